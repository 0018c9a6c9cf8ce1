#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {

/// How the sizes of the weight matrices change, each against what it was when first seen.
class WeightSizes {
 public:
  /// Looks at the first `steps_max` steps of each, and judges by those that were looked at
  /// `looks_min` times.
  WeightSizes(std::int64_t steps_max, std::int64_t looks_min)
      : steps_max_(steps_max), looks_min_(looks_min) {}

  void Push(const Event& event) {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kWeight || !IsWeightMatrix(*stats) ||
        stats->nan_count + stats->inf_count > 0) {
      return;
    }
    Size* size = tensors_.Find(stats->tensor);
    if (size == nullptr || (size->looks > 0 && stats->step - size->first_step > steps_max_)) {
      return;
    }
    const double rms = RmsOf(*stats);
    size->from_zero = size->from_zero || (size->looks == 0 && rms == 0);
    if (size->looks == 0) {
      if (rms == 0) {
        return;
      }
      size->first = rms;
      size->first_step = stats->step;
    }
    size->last = rms;
    ++size->looks;
    at_ = event.at;
    step_ = std::max(step_, stats->step);
  }

  /// The median over the matrices of last by first; nullopt: fewer than two that moved.
  std::optional<double> Change() const {
    std::vector<double> changes;
    for (const auto& entry : tensors_.entries()) {
      if (Moved(entry.state)) {
        changes.push_back(entry.state.last / entry.state.first);
      }
    }
    return changes.size() < kTensorsMin ? std::nullopt
                                        : std::optional<double>(Median(std::move(changes)));
  }

  /// About the matrix that changed most, in that direction; only where there is a change.
  Finding About(std::string detector, bool grown) const {
    const TensorTable<Size>::Entry* most = nullptr;
    for (const auto& entry : tensors_.entries()) {
      const double change = Moved(entry.state) ? entry.state.last / entry.state.first : 1;
      const double so_far = most == nullptr ? 1 : most->state.last / most->state.first;
      most = most == nullptr || (grown ? change > so_far : change < so_far) ? &entry : most;
    }
    Finding finding;
    finding.detector = std::move(detector);
    finding.at = at_;
    finding.step_to = step_;
    finding.series = most->name;
    AddFact(finding, "from", most->state.first);
    AddFact(finding, "to", most->state.last);
    return finding;
  }

  std::int64_t last_step() const { return step_; }

 private:
  static constexpr std::size_t kTensorsMin = 2;

  struct Size {
    bool from_zero = false;  // It began at zero: what its first steps made of it is no size to compare with.
    double first = 0;
    double last = 0;
    std::int64_t first_step = 0;
    std::int64_t looks = 0;
  };

  /// One that stands still is frozen, and says nothing.
  bool Moved(const Size& size) const { return !size.from_zero && size.looks >= looks_min_ && size.last != size.first; }

  TensorTable<Size> tensors_;
  RunTime at_{};
  std::int64_t step_ = 0;
  std::int64_t steps_max_;
  std::int64_t looks_min_;
};

}  // namespace whystop
