#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "client/tensor_stats.h"

namespace whystop {

extern const StatsKernels kStatsWideEmulated;  // stats_wide_test.cc

namespace {

constexpr double kThresholds[6] = {0x1p-24, 0x1p-14, 0x1p-7, 0.9921875, 2.0, 65520.0};

/// The same facts by the plainest means, in long double.
struct Reference {
  ws_stats stats{};
  long double sum = 0, sum_squares = 0, sum_magnitudes = 0;

  explicit Reference(const std::vector<double>& values) {
    stats.count = values.size();
    bool first = true;
    for (const double value : values) {
      if (std::isnan(value)) {
        ++stats.nan_count;
      } else if (std::isinf(value)) {
        ++stats.inf_count;
      } else {
        stats.zero_count += value == 0 ? 1 : 0;
        stats.min = first ? value : std::min(stats.min, value);
        stats.max = first ? value : std::max(stats.max, value);
        stats.abs_max = std::max(stats.abs_max, std::abs(value));
        sum += value;
        sum_squares += static_cast<long double>(value) * value;
        sum_magnitudes += std::abs(value);
        for (int i = 0; i < 6; ++i) {
          stats.below[i] += std::abs(value) < kThresholds[i] ? 1 : 0;
        }
        first = false;
      }
    }
  }
};

void ExpectSame(const ws_stats& got, const std::vector<double>& values, const std::string& where) {
  const Reference want(values);
  EXPECT_EQ(got.count, want.stats.count) << where;
  EXPECT_EQ(got.nan_count, want.stats.nan_count) << where;
  EXPECT_EQ(got.inf_count, want.stats.inf_count) << where;
  EXPECT_EQ(got.zero_count, want.stats.zero_count) << where;
  EXPECT_EQ(got.min, want.stats.min) << where;
  EXPECT_EQ(got.max, want.stats.max) << where;
  EXPECT_EQ(got.abs_max, want.stats.abs_max) << where;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(got.below[i], want.stats.below[i]) << where << ", threshold " << i;
  }
  EXPECT_LE(std::abs(got.sum - want.sum), 0x1p-19L * want.sum_magnitudes) << where;
  EXPECT_LE(std::abs(got.sum_squares - want.sum_squares), 0x1p-19L * want.sum_squares) << where;
}

std::uint16_t BrainFloat(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>(bits >> 16);
}
double FromBrainFloat(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}
/// By the definition of binary16.
double FromHalf(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double fraction = static_cast<double>(half & 1023) / 1024;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -14)
                       : sign * std::ldexp(1 + fraction, exponent - 15);
}

/// Values of one scale with some of the values that break naive code planted among them.
std::vector<float> Values(std::size_t count, float scale, double planted, std::mt19937& random) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,       -0.0f,      kInf,        -kInf,    std::nanf(""), 1e-45f,
                           -1e-42f,    1.1e-38f,   3e38f,       -3.4e38f, 1.9e19f,       65520.0f,
                           65519.996f, 2.0f,       -2.0f,       1.99999f, 0x1p-24f,      0x1p-14f,
                           0x1p-7f,    0.9921875f, -0.99218744f};
  std::normal_distribution<float> normal(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = scale * normal(random);
    if (uniform(random) < planted) {
      value = special[random() % std::size(special)];
    }
  }
  return values;
}

class StatsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    kernels_ = std::string_view(GetParam()) == "wide" ? &kStatsWideEmulated
                                                      : StatsKernelsNamed(GetParam());
    if (kernels_ == nullptr) {
      GTEST_SKIP() << "this CPU has no " << GetParam();
    }
  }
  const StatsKernels* kernels_ = nullptr;
};

/// Goal: every fact agrees with the plain computation, for all sizes around the kernels'
/// boundaries, for magnitudes whose squares leave the range of float, and with anything planted.
TEST_P(StatsTest, AgreesWithAPlainComputation) {
  std::mt19937 random(7);
  const std::size_t sizes[] = {0,  1,  2,  3,   7,    8,    9,    15,   16,   17,  31,
                               63, 64, 65, 255, 1000, 1023, 1024, 1025, 4096, 5000};
  for (const std::size_t size : sizes) {
    for (const float scale : {1.0f, 1e-3f, 1e-12f, 1e-25f, 1e-40f, 1e4f, 1e18f, 1e30f, 0.0f}) {
      for (const double planted : {0.0, 0.001, 0.3, 1.0}) {
        const std::string where = "size " + std::to_string(size) + ", scale " +
                                  std::to_string(scale) + ", planted " + std::to_string(planted);
        const std::vector<float> values = Values(size, scale, planted, random);
        ws_stats got{};
        kernels_->f32(values.data(), size, got);
        ExpectSame(got, {values.begin(), values.end()}, "f32, " + where);
        const std::vector<double> wide(values.begin(), values.end());
        kernels_->f64(wide.data(), size, got);
        ExpectSame(got, wide, "f64, " + where);
        std::vector<std::uint16_t> brain(size);
        std::transform(values.begin(), values.end(), brain.begin(), BrainFloat);
        std::vector<double> brain_wide(size);
        std::transform(brain.begin(), brain.end(), brain_wide.begin(), FromBrainFloat);
        kernels_->bf16(brain.data(), size, got);
        ExpectSame(got, brain_wide, "bf16, " + where);
      }
    }
  }
}

TEST_P(StatsTest, ReadsEveryHalfFloatThereIs) {
  std::vector<std::uint16_t> halves(65536);
  std::vector<double> wide(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    halves[i] = static_cast<std::uint16_t>(i);
    wide[i] = FromHalf(halves[i]);
  }
  ws_stats got{};
  kernels_->f16(halves.data(), halves.size(), got);
  ExpectSame(got, wide, "all halves");
  for (std::uint32_t i = 0; i < 65536; ++i) {
    kernels_->f16(&halves[i], 1, got);
    ASSERT_EQ(got.min, std::isfinite(wide[i]) ? wide[i] : 0.0) << i;
  }
}

TEST_P(StatsTest, AcceptsMemoryThatIsNotAligned) {
  std::mt19937 random(3);
  const std::vector<float> values = Values(3000, 1, 0.01, random);
  std::vector<char> bytes(values.size() * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(float));
  const std::vector<float> shifted(values.begin() + 1, values.end());
  ws_stats got{};
  kernels_->f32(values.data() + 1, shifted.size(), got);
  ExpectSame(got, {shifted.begin(), shifted.end()}, "shifted by one value");
}

TEST_P(StatsTest, DoublesWhoseSquaresOverflowGiveInfinity) {
  const std::vector<double> values(100, 1e200);
  ws_stats got{};
  kernels_->f64(values.data(), values.size(), got);
  EXPECT_EQ(got.sum_squares, std::numeric_limits<double>::infinity());
  EXPECT_EQ(got.max, 1e200);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, StatsTest,
                         testing::Values("baseline", "avx2", "avx512", "wide"),
                         [](const auto& set) { return set.param; });

TEST(TensorStatsTest, ManyTensorsInOneCall) {
  const float first[] = {1, -2, 3};
  const double second[] = {0.5};
  const ws_tensor_view views[] = {{first, 3, WS_F32}, {second, 1, WS_F64}, {nullptr, 0, WS_BF16}};
  ws_stats out[3];
  ws_tensor_stats(views, 3, out);
  EXPECT_EQ(out[0].sum, 2);
  EXPECT_EQ(out[0].abs_max, 3);
  EXPECT_EQ(out[1].sum_squares, 0.25);
  EXPECT_EQ(out[2].count, 0u);
  EXPECT_EQ(out[2].min, 0);
}

}  // namespace
}  // namespace whystop
