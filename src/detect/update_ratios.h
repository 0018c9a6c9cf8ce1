#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {

/// How large the updates are, as a share of the weights they change: root mean square by root mean
/// square.
class UpdateRatios {
 public:
  /// `count_min`: of a tensor. Updates of a few weights are often large beside them and seldom
  /// small.
  explicit UpdateRatios(std::uint64_t count_min) : count_min_(count_min) {}

  void Push(const Event& event) {
    if (const auto* scalar = event.As<Scalar>()) {
      if (scalar->role == SeriesRole::kLearningRate && scalar->value > 0) {
        lr_max_ = std::max(lr_max_.value_or(0), scalar->value);
      }
      steps_ = std::max(steps_, scalar->step.value_or(0));
      return;
    }
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || !IsWeightMatrix(*stats, count_min_) ||
        stats->nan_count + stats->inf_count > 0) {
      return;
    }
    if (stats->what == TensorStats::What::kWeight) {
      if (double* weight = weights_.Find(stats->tensor)) {
        // The largest so far: weights that decay to nothing would make any update look large.
        *weight = std::max(*weight, RmsOf(*stats));
      }
    } else if (stats->what == TensorStats::What::kUpdate) {
      const double* weight = weights_.Find(stats->tensor);
      LogTrack* ratio = ratios_.Find(stats->tensor);
      if (weight != nullptr && ratio != nullptr && *weight > 0) {
        ratio->Push(RmsOf(*stats) / *weight);
        last_at_ = event.at;
        last_step_ = stats->step;
        ++samples_;
      }
    }
  }

  /// The median over the tensors of what each began with; nullopt: too few samples.
  std::optional<double> Early() const { return Typical(&LogTrack::Early); }
  std::optional<double> Late() const { return Typical(&LogTrack::Late); }
  /// The median over the tensors of the largest update that each ever got.
  std::optional<double> Highest() const { return Typical(&LogTrack::Highest); }

  /// How far all steps together can have moved the weights, were each as large as the largest seen
  /// and all of them in one direction.
  std::optional<double> Reach() const {
    const auto highest = Highest();
    return highest ? std::optional(*highest * static_cast<double>(std::max(steps_, last_step_)))
                   : std::nullopt;
  }

  /// The tensor with the most extreme ratio in the beginning.
  const std::string& Extreme(bool largest) const {
    const TensorTable<LogTrack>::Entry* found = nullptr;
    for (const auto& entry : ratios_.entries()) {
      const double value = entry.state.samples == 0 ? 0 : entry.state.Early();
      if (entry.state.samples > 0 &&
          (found == nullptr ||
           (largest ? value > found->state.Early() : value < found->state.Early()))) {
        found = &entry;
      }
    }
    static const std::string kNone;
    return found == nullptr ? kNone : found->name;
  }

  void Describe(Finding& finding) const {
    finding.at = last_at_;
    finding.step_to = last_step_;
    AddFact(finding, "ratio", Early().value_or(0));
    AddFact(finding, "ratio_at_end", Late().value_or(0));
    AddFact(finding, "ratio_highest", Highest().value_or(0));
    AddFact(finding, "samples", static_cast<double>(samples_));
    AddFact(finding, "reach", Reach().value_or(0));
    if (lr_max_) {
      AddFact(finding, "lr", *lr_max_);
    }
  }

 private:
  static constexpr std::int64_t kSamplesMin = 3;

  std::optional<double> Typical(double (LogTrack::*when)() const) const {
    std::vector<double> logs;
    for (const auto& entry : ratios_.entries()) {
      if (entry.state.samples > 0) {
        logs.push_back((entry.state.*when)());
      }
    }
    return samples_ < kSamplesMin || logs.empty()
               ? std::nullopt
               : std::optional<double>(std::pow(10, Median(std::move(logs))));
  }

  TensorTable<double> weights_;
  TensorTable<LogTrack> ratios_;
  std::optional<double> lr_max_;
  std::int64_t samples_ = 0;
  RunTime last_at_{};
  std::int64_t last_step_ = 0;
  std::int64_t steps_ = 0;
  std::uint64_t count_min_;
};

}  // namespace whystop
