#include "text/progress_tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/epilogue.h"

namespace whystop {
namespace {

constexpr double kEpochsMax = 1e7;  // More is a placeholder.

}  // namespace

/// "Epoch: 80" before anything else was counted: the first of a resumed run, or how many there will
/// be. The next one tells.
bool ProgressTracker::MayBeASetting(const MetricLine& line) {
  if (started() || !line.epoch || *line.epoch < 2 || line.epochs || line.step ||
      line.fractional_epoch || !line.values.empty()) {
    return false;
  }
  const bool first = !setting_ || setting_ == line.epoch;
  setting_ = line.epoch;
  return first;
}

bool ProgressTracker::PushCounters(const MetricLine& line) {
  return MayBeASetting(line) || TakeCounters(line);
}

bool ProgressTracker::TakeCounters(const MetricLine& line) {
  if (line.epoch && !line.validation && *line.epoch <= 1 && epoch_ &&
      epoch_max_ >= *line.epoch + 2) {
    return false;
  }
  if (line.bar && line.values.empty()) {
    return true;  // Keras draws one for predict as well.
  }
  if (line.round && line.step) {
    constexpr std::int64_t kRoundsMin = 2;
    if (first_round_ && step_ && *line.step <= *first_round_ && *step_ >= *first_round_ + kRoundsMin) {
      return false;  // Another booster.
    }
    if (step_ && *line.step < *step_) {
      return true;  // The best round, told once more at the end.
    }
    first_round_ = first_round_ ? first_round_ : line.step;
  }
  if (line.epoch) {
    PushEpoch(line);
  }
  if (line.step && !line.validation) {
    steps_from_zero_ = steps_from_zero_ || (!step_ && *line.step == 0 && !line.bar);
    PushStep(*line.step, line.steps);
  }
  const std::optional<std::int64_t> steps = line.steps ? line.steps
                                            : epoch_steps_seen_ > 0
                                                ? std::optional<std::int64_t>(epoch_steps_seen_)
                                                : std::nullopt;
  const bool in_epoch_done = !line.step || (steps && *steps - *line.step < step_interval_);
  if (line.epoch && !line.values.empty() && in_epoch_done && !line.in_progress) {
    epoch_done_ = true;
  } else if (line.step && !line.validation && line.steps && in_epoch_done && !line.in_progress) {
    epoch_done_ = true;
  } else if (line.epoch && line.steps && !line.validation && !in_epoch_done) {
    epoch_done_ = false;
  }
  return true;
}

void ProgressTracker::PushEpoch(const MetricLine& line) {
  const double epoch = *line.epoch;
  const std::optional<double> epochs = line.epochs;
  fractional_ = fractional_ || line.fractional_epoch;
  if (epoch > kEpochsMax) {
    return;
  }
  counts_from_zero_ = counts_from_zero_ || epoch == 0;
  if (!epoch_ || epoch > *epoch_) {
    Advance();
    if (!epoch_ || std::floor(epoch) > std::floor(*epoch_)) {
      ++milestone_;
      if (!fractional_) {
        step_.reset();
        epoch_steps_seen_ = std::max(epoch_steps_seen_, epoch_step_max_);
        epoch_step_max_ = 0;
      }
    }
    epoch_done_ = false;
    figures_before_ = std::exchange(figures_, 0);
    ++epochs_since_step_;
  }
  epoch_ = epoch;
  epoch_max_ = std::max(epoch_max_, epoch);
  if (epochs && *epochs > 0 && *epochs < kEpochsMax && epochs_planned_ != epochs) {
    epochs_planned_ = epochs;
    ++milestone_;
  }
}

void ProgressTracker::PushStep(std::int64_t step, std::optional<std::int64_t> steps) {
  if (!step_ || step > *step_) {
    Advance();
    if (step_) {
      step_interval_ = std::max<std::int64_t>(1, step - *step_);
    }
  }
  epochs_since_step_ = 0;
  step_ = step;
  epoch_step_max_ = std::max(epoch_step_max_, step);
  if (steps && *steps > 0) {
    milestone_ += steps_ == steps ? 0 : 1;
    steps_ = steps;
  }
  const std::int64_t far = steps_ ? std::max<std::int64_t>(1, *steps_ / 100) : 100;
  if (step < milestone_step_ || step - milestone_step_ >= far) {
    milestone_step_ = step;
    ++milestone_;
  }
}

void ProgressTracker::PushFigures() {
  ++figures_;
  if (epoch_ && !step_ && figures_ >= figures_before_) {
    epoch_done_ = true;
  }
}

bool ProgressTracker::PushBar(const Bar& bar) {
  const bool full = bar.done && bar.total && *bar.done >= *bar.total;
  const BarLabel described = bar.known_label ? BarLabel{} : DescribeLabel(bar.label);
  const BarLabel& known = bar.known_label ? *bar.known_label : described;
  if (!bar.done || known.side) {
    side_unfinished_ = bar.total && !full;
    return true;
  }
  MetricLine label;
  if (known.may_count && LexMetricLine(bar.label, label) && label.epoch) {
    label.values.clear();
    if (!TakeCounters(label)) {
      return false;
    }
  }
  const bool same = bar_ && bar_->total == bar.total && bar_->label == known.kind;
  const bool main_full = bar_ && bar_->total && bar_->done >= *bar_->total;
  if (bar_ && !same && !main_full && bar_->total) {
    side_unfinished_ = !full;
    return true;  // Drawn inside the main one: an evaluation, say.
  }
  if (same && !main_full && *bar.done == 0 && bar_->done >= 3 &&
      bar_->done * 10 < bar_->total.value_or(0) * 9 && !label.epoch) {
    return false;
  }
  side_unfinished_ = false;
  if (!same || *bar.done > bar_->done) {
    Advance();
  }
  if (!same) {
    bar_ = MainBar{.label = known.kind, .done = 0, .total = {}};
  }
  bar_->done = *bar.done;
  bar_->total = bar.total;
  epoch_done_ = epoch_done_ || full;
  PushStep(*bar.done, bar.total);
  return true;
}

void ProgressTracker::PlanEpochs(double epochs) {
  if (epochs >= 1 && epochs < kEpochsMax && epochs == std::floor(epochs) &&
      epochs_configured_ != epochs) {
    epochs_configured_ = epochs;
    ++milestone_;
  }
}

void ProgressTracker::PlanSteps(std::int64_t steps) {
  if (steps > 0 && steps_configured_ != steps) {
    steps_configured_ = steps;
    ++milestone_;
  }
}

void ProgressTracker::Reset() {
  const std::int64_t milestone = milestone_ + 1;
  *this = ProgressTracker();
  milestone_ = milestone;
}

double ProgressTracker::EpochsBegun(double epoch) const {
  return counts_from_zero_ && !fractional_ ? epoch + 1 : epoch;
}

std::optional<std::int64_t> ProgressTracker::GlobalStep(const MetricLine& line) const {
  if (!line.step) {
    return std::nullopt;
  }
  const std::optional<double> epoch = line.epoch ? line.epoch : epoch_;
  if (!line.steps || !epoch || fractional_) {
    return line.step;
  }
  const auto before = static_cast<std::int64_t>(*epoch) - (counts_from_zero_ ? 0 : 1);
  return before <= 0 || *line.steps > 1'000'000'000 ? line.step : before * *line.steps + *line.step;
}

Progress ProgressTracker::Now() const {
  Progress now;
  if (epoch_) {
    now.epoch = EpochsBegun(*epoch_);
  }
  now.epochs_planned = epochs_planned_ ? epochs_planned_ : epochs_configured_;
  if (now.epoch && now.epochs_planned) {
    now.epochs_planned = std::max(*now.epochs_planned, std::floor(*now.epoch));
  }
  if (step_) {
    MetricLine line;
    line.step = step_;
    line.steps = steps_;
    // A bar that was drawn once and never again (W&B keeps its first state only) tells the plan,
    // not the step.
    now.step = fractional_ && epochs_since_step_ > 2 ? std::nullopt : GlobalStep(line);
    if (steps_ && !WholeEpochs()) {
      now.steps_planned = steps_;
    } else if (steps_ && now.epochs_planned && *steps_ < 1'000'000'000) {
      now.steps_planned =
          static_cast<std::int64_t>(static_cast<double>(*steps_) * *now.epochs_planned);
    }
  }
  if (!now.steps_planned) {
    now.steps_planned = steps_configured_;
  }
  return now;
}

bool ProgressTracker::StepsDone() const {
  return *steps_ - *step_ - (steps_from_zero_ ? 1 : 0) < step_interval_;
}

/// The log's own count of the time that is left came to 0. Where the end of a plan is known that decides; and in a first
/// epoch it may be the epoch's.
bool ProgressTracker::CountedDown() const {
  const bool planned = epochs_planned_ || epochs_configured_ || steps_ || steps_configured_;
  return !planned && countdown_.IsOver() && (!epoch_ || fractional_ || epoch_max_ >= 2);
}

bool ProgressTracker::finished() const {
  const std::optional<double> planned = epochs_planned_ ? epochs_planned_ : epochs_configured_;
  if (epoch_ && planned) {
    // The furthest: "best model of epoch 58" may follow the last.
    return EpochsBegun(epoch_max_) >= *planned && (epoch_done_ || fractional_);
  }
  if (step_ && steps_ && !epoch_) {
    return StepsDone();
  }
  if (CountedDown()) {
    return true;
  }
  return step_ && !epoch_ && steps_configured_ &&
         *steps_configured_ - *step_ < std::max<std::int64_t>(2, step_interval_);
}

bool ProgressTracker::StandsAtRoundCount() const {
  if (epochs_planned_ || epochs_configured_) {
    return false;
  }
  if (epoch_) {
    return IsRoundPlan(EpochsBegun(epoch_max_));
  }
  // Steps are printed at round numbers anyway: the count must be rounder than that.
  constexpr std::int64_t kPrintsMin = 100;
  return step_ && !steps_ && *step_ >= kPrintsMin * step_interval_ &&
         IsRoundPlan(static_cast<double>(*step_));
}

bool ProgressTracker::IsNearPlan() const {
  return step_ && !epoch_ && steps_configured_ && *step_ * 10 >= *steps_configured_ * 9 &&
         *steps_configured_ - *step_ < 2 * step_interval_;
}

bool ProgressTracker::unfinished() const {
  if (side_unfinished_ || (bar_ && bar_->total && bar_->done < *bar_->total)) {
    return true;
  }
  const std::optional<double> planned = epochs_planned_ ? epochs_planned_ : epochs_configured_;
  if (epoch_ && planned) {
    return !finished();
  }
  return step_ && steps_ && !StepsDone();
}

}  // namespace whystop
