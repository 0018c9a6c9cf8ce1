#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "detect/series_shape.h"
#include "model/event.h"

namespace whystop {

/// Root mean square of the finite values; 0 where there are none.
inline double RmsOf(const TensorStats& stats) {
  const double finite =
      static_cast<double>(stats.count) - static_cast<double>(stats.nan_count + stats.inf_count);
  return finite > 0 ? std::sqrt(std::max(stats.sum_squares, 0.0) / finite) : 0;
}

/// Biases and the scales of normalisation layers begin at zero or one: their ratios to anything
/// mean little.
inline bool IsWeightMatrix(const TensorStats& stats, std::uint64_t count_min = 16) {
  const std::string_view name = stats.tensor;
  return stats.count >= count_min && !name.ends_with("bias") &&
         name.find("norm") == std::string_view::npos && name.find("bn") == std::string_view::npos;
}

/// A positive quantity over the samples of one tensor, by its logarithm: it may span many orders of
/// magnitude.
struct LogTrack {
  static constexpr std::size_t kKept = 8;
  static constexpr double kLeast = 1e-45;  // Below the smallest float.
  std::array<double, kKept> first{};       // Logarithms to base 10.
  std::array<double, kKept> last{};        // A ring.
  std::int64_t samples = 0;
  double highest = -1000;

  void Push(double value) {
    const double log = std::log10(std::max(value, kLeast));
    const auto index = static_cast<std::size_t>(samples);
    if (index < kKept) {
      first[index] = log;
    }
    last[index % kKept] = log;
    highest = std::max(highest, log);
    ++samples;
  }
  double Early() const { return MedianOf(first); }
  double Late() const { return MedianOf(last); }
  double Highest() const { return highest; }

 private:
  double MedianOf(const std::array<double, kKept>& values) const {
    const auto used = std::min(kKept, static_cast<std::size_t>(samples));
    return Median({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(used)});
  }
};

/// Something for each tensor, in the order in which the tensors first came: that of the model, as
/// the probe walks it.
template <typename State>
class TensorTable {
 public:
  struct Entry {
    std::string name;
    State state;
  };

  /// nullptr: the table is full and this tensor is new.
  State* Find(const std::string& name) {
    const auto found = index_.find(name);
    if (found != index_.end()) {
      return &entries_[found->second].state;
    }
    if (entries_.size() >= kTensorsMax) {
      return nullptr;
    }
    index_.emplace(name, entries_.size());
    entries_.push_back({name, State{}});
    return &entries_.back().state;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::size_t kTensorsMax = 4096;
  std::map<std::string, std::size_t> index_;
  std::vector<Entry> entries_;
};

}  // namespace whystop
