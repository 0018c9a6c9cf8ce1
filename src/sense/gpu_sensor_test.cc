#include "sense/gpu_sensor.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "sense/amd_gpu.h"
#include "sense/test_sweep.h"

namespace whystop {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

const std::string kFake = std::string(WHYSTOP_BINARY_DIR) + "/fake_nvml/libnvidia-ml.so.1";

class FakeNvml : public ::testing::Test {
 protected:
  // NOLINTBEGIN(concurrency-mt-unsafe): set before any thread reads it
  static void Set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  void TearDown() override {
    for (const char* name : {"FAKE_NVML", "FAKE_NVML_PID", "FAKE_NVML_XID"}) {
      ::unsetenv(name);
    }
  }
  // NOLINTEND(concurrency-mt-unsafe)
};

TEST_F(FakeNvml, ReadsBothDevices) {
  Set("FAKE_NVML_PID", "4242");
  Set("FAKE_NVML_XID", "79");
  auto library = NvmlLibrary::Load(kFake);
  ASSERT_TRUE(library) << library.error().what;
  EXPECT_EQ((*library)->DriverVersion(), "999.1");
  const std::vector<GpuFacts> gpus = (*library)->Read();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-fake-0");
  EXPECT_EQ(gpus[0].name, "Fake GPU");
  EXPECT_EQ(gpus[0].memory_used_bytes, 3 * kGiB);
  EXPECT_EQ(gpus[0].memory_total_bytes, 16 * kGiB);
  EXPECT_EQ(gpus[0].utilisation_percent, 97);
  EXPECT_EQ(gpus[0].temperature_celsius, 71);
  EXPECT_EQ(gpus[0].power_milliwatts, 250000);
  EXPECT_EQ(gpus[0].throttle_reasons, 0x20) << "by the older name of the function";
  EXPECT_EQ(gpus[0].sm_clock_mhz, 1410);
  EXPECT_EQ(gpus[0].xid_last, std::nullopt);
  ASSERT_TRUE(gpus[0].processes);
  ASSERT_EQ(gpus[0].processes->size(), 1U) << "one of two says that its use is not known";
  EXPECT_EQ(gpus[0].processes->front(), std::pair(std::int64_t{4242}, 2 * kGiB));
  EXPECT_EQ(gpus[1].ecc_uncorrected, 1);
  EXPECT_EQ(gpus[1].xid_last, 79);
  EXPECT_EQ((*library)->Read()[1].xid_last, 79) << "stays known after the event was taken";
}

TEST_F(FakeNvml, ReportsOnlyWhatACardSupports) {
  Set("FAKE_NVML", "refuse");
  auto library = NvmlLibrary::Load(kFake);
  ASSERT_TRUE(library);
  const GpuFacts gpu = (*library)->Read()[0];
  EXPECT_EQ(gpu.memory_used_bytes, 3 * kGiB);
  EXPECT_EQ(gpu.utilisation_percent, std::nullopt);
  EXPECT_EQ(gpu.power_milliwatts, std::nullopt);
  EXPECT_FALSE(gpu.processes);
}

TEST_F(FakeNvml, SaysThatTheDriverIsNotLoaded) {
  Set("FAKE_NVML", "notloaded");
  const auto library = NvmlLibrary::Load(kFake);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().what, "NVML does not start: Driver Not Loaded");
}

TEST(NvmlLibrary, IsNotFoundOnAMachineWithoutADriver) {
  const auto library = NvmlLibrary::Load("libwhystop-no-such-library.so.1");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, Error::Code::kNotFound);
}

/// Goal: the sensor finds the library by its own name and matches processes with the job.
/// Method: the fake is loaded first, so the loader knows it by its soname.
TEST_F(FakeNvml, IsReportedBySweeps) {
  void* const fake = ::dlopen(kFake.c_str(), RTLD_NOW);
  ASSERT_NE(fake, nullptr);
  Set("FAKE_NVML_PID", "4242");
  SenseOptions options;
  options.interval = std::chrono::milliseconds(1);
  GpuSensor sensor(options);
  const auto is_job = [](std::int64_t pid) { return pid == 4242; };
  TestSweep test;
  for (int tries = 0; tries < 5000 && test.sweep.readings().empty(); ++tries) {
    sensor.Sample(is_job, test.sweep);
    std::this_thread::yield();
  }
  EXPECT_EQ(test.Value("GPU-fake-0", Quantity::kGpuJobMemoryBytes), 2 * kGiB);
  EXPECT_EQ(test.Value("GPU-fake-1", Quantity::kGpuJobMemoryBytes), 0) << "nobody uses it";
  EXPECT_EQ(test.Value("GPU-fake-1", Quantity::kGpuUtilisationPercent), 0);
  TestSweep other;
  for (int tries = 0; tries < 5000 && other.sweep.readings().empty(); ++tries) {
    sensor.Sample([](std::int64_t) { return false; }, other.sweep);
  }
  EXPECT_EQ(other.Value("GPU-fake-0", Quantity::kGpuJobMemoryBytes), std::nullopt)
      << "others use it, and in a container their pids are not ours";
  ::dlclose(fake);
}

TEST(SlowPoller, GivesUpOnACallThatHangs) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  using Poller = SlowPoller<int, int>;
  auto poller = std::make_unique<Poller>(
      [released](const int& input) -> std::optional<int> {
        released.wait();
        return input;
      },
      7, Poller::Pace{std::chrono::seconds(1), std::chrono::seconds(5)});
  EXPECT_EQ(poller->Latest(std::chrono::seconds(0)), std::nullopt);
  EXPECT_FALSE(poller->stuck()) << "it has just been asked";
  EXPECT_EQ(poller->Latest(std::chrono::seconds(7)), std::nullopt);
  EXPECT_TRUE(poller->stuck());
  poller.reset();  // Does not wait for the call.
  release.set_value();
}

TEST(SlowPoller, HandsOutTheNewestAnswerAndEndsWhenThereIsNone) {
  using Poller = SlowPoller<int, int>;
  Poller answers([](const int& input) { return std::optional(input * 2); }, 21, Poller::Pace{});
  EXPECT_EQ(answers.WaitForFirst(), 42);
  Poller nothing([](const int&) { return std::optional<int>(); }, 21, Poller::Pace{});
  EXPECT_EQ(nothing.WaitForFirst(), std::nullopt);
  EXPECT_FALSE(nothing.asking());
  Poller throws([](const int&) -> std::optional<int> { throw 1; }, 21, Poller::Pace{});
  EXPECT_EQ(throws.WaitForFirst(), std::nullopt);
}

TEST(ReadAmdGpus, ReadsTheCardOfThisMakerOnly) {
  const auto gpus = ReadAmdGpus(FakeRoots("amdgpu").sys);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].index, 1);
  EXPECT_EQ(gpus[0].uuid, "7c1a2b3c4d5e6f70");
  EXPECT_EQ(gpus[0].memory_used_bytes, 1 * kGiB);
  EXPECT_EQ(gpus[0].utilisation_percent, 87);
  EXPECT_EQ(gpus[0].temperature_celsius, 64);
  EXPECT_EQ(gpus[0].power_milliwatts, 215000);
  EXPECT_EQ(gpus[0].ecc_uncorrected, std::nullopt);
  EXPECT_TRUE(ReadAmdGpus("/nonexistent").empty());
}

}  // namespace
}  // namespace whystop
