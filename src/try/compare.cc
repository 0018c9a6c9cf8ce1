#include "try/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"

namespace whystop {
namespace {

constexpr double kNearGuessing = 0.8;   // Of the loss of guessing: above it nothing is learned.
constexpr double kNearStart = 0.9;      // Of the first loss, where guessing is not known.
constexpr double kLearns = 0.7;         // Of the loss of guessing: a cure gets below it.
constexpr double kWellBelowFailing = 0.75;  // Of the untouched level.
constexpr double kWellBelowLearning = 0.5;  // The same, where the untouched program learns too.
constexpr double kRose = 2.0;           // Times its lowest level: it has diverged.
constexpr double kErrors = 3.0;
constexpr std::int64_t kStepsMin = 20;

/// Above guessing a level says only how wild it is; all of it is as bad as guessing.
double Clipped(const Level& level) {
  return level.of_guessing ? std::min(level.value, 1.0) : level.value;
}

}  // namespace

Comparison::Comparison(std::span<const Trial> trials) : trials_(trials) {
  as_is_ = Find(kAsIs);
  for (const Trial& trial : trials) {
    again_ = trial.spec.substr(0, 5) == "seed=" ? &trial : again_;
  }
  if (as_is_ == nullptr) {
    return;
  }
  adversarial_ = as_is_->Seen("models") > 1 && as_is_->Seen("optimizers") > 1;
  end_ = EndLevel(*as_is_);
  reference_ = LowestLevel(*as_is_);
  if (!end_) {
    return;
  }
  if (!reference_) {  // Not finite anywhere.
    reference_ = end_;
  }
  const auto start = StartLevel(*as_is_);
  diverged_ = !end_->finite || end_->value > kRose * reference_->value;
  if (diverged_ && (!end_->finite || end_->of_guessing)) {
    const double kept = reference_->value;
    reference_ = end_;
    reference_->value = end_->of_guessing ? 1.0 : kept;
    reference_->error = 0;
  }
  failing_ = !end_->finite || (end_->of_guessing ? end_->value > kNearGuessing
                                                 : start && end_->value > kNearStart * start->value);
  if (again_ != nullptr) {
    const auto other = LowestLevel(*again_);
    const auto other_end = EndLevel(*again_);
    failing_ = failing_ || (other_end && !other_end->finite);  // Luck alone decides whether it learns.
    if (other && other_end && other_end->finite && other_end && other->of_guessing == reference_->of_guessing) {
      const bool same_fate = diverged_ && (!other_end->finite || other_end->value > kRose * other->value);
      if (!same_fate) {
        spread_ = std::abs(Clipped(*other) - Clipped(*reference_));
        reference_->value = std::min(reference_->value, other->value);
      }
    }
  }
}

const Trial* Comparison::Find(std::string_view spec) const {
  const auto found = std::find_if(trials_.begin(), trials_.end(),
                                  [spec](const Trial& trial) { return trial.spec == spec; });
  return found == trials_.end() ? nullptr : &*found;
}

double Comparison::Margin(const Level& level) const {
  return kErrors * std::sqrt(level.error * level.error + reference_->error * reference_->error +
                             spread_ * spread_);
}

bool Comparison::Comparable(const Trial& trial, const Level& level) const {
  return reference_ && trial.begun && trial.applied > 0 && trial.steps() >= kStepsMin &&
         level.of_guessing == reference_->of_guessing;
}

double Comparison::Goal() const {
  if (!reference_) {
    return 0;
  }
  const double before = Clipped(*reference_);
  return !reference_->of_guessing ? kWellBelowLearning * before
         : failing_               ? std::min(kLearns, kWellBelowFailing * before)
                                  : std::min(kLearns, kWellBelowLearning * before);
}

bool Comparison::Cures(const Trial& trial) const {
  const auto level = EndLevel(trial);
  if (!level || !Comparable(trial, *level) || !level->finite || !trial.raised.empty()) {
    return false;
  }
  const double before = Clipped(*reference_);
  const bool was_lost = diverged_ && end_ && !end_->finite;
  if (!level->of_guessing && (before <= 0 || level->value < 0)) {
    return was_lost;  // Scales without a zero are not compared.
  }
  if (adversarial_ && !was_lost) {
    return false;
  }
  return level->value <= Goal() && level->value < before - Margin(*level);
}

bool Comparison::ChangesNothing(const Trial& trial) const {
  const auto level = EndLevel(trial);
  if (!level || !Comparable(trial, *level)) {
    return false;
  }
  if (!level->finite) {
    return true;
  }
  if (trial.steps() * 10 < as_is_->steps() * 9) {
    return false;  // It was cut off, and might have come to it.
  }
  const double before = Clipped(*reference_);
  return level->value > before - std::max(Margin(*level), before * (1 - kNearStart));
}

std::optional<double> Comparison::Value(const Trial& trial) const {
  const auto level = EndLevel(trial);
  if (!level || !Comparable(trial, *level) || !level->finite) {
    return std::nullopt;
  }
  return level->value;
}

std::string Comparison::Figures(const Trial& trial) const {
  const auto level = EndLevel(trial);
  if (!level) {
    return trial.raised.empty() ? "too few steps to compare" : "ended by " + trial.raised;
  }
  std::string text = fmt::format("loss {} after {} steps",
                                 level->finite ? HumanNumber(level->loss, 3) : std::string("nan"),
                                 HumanCount(trial.steps()));
  if (end_ && &trial != as_is_) {
    text += fmt::format(" instead of {}", end_->finite ? HumanNumber(end_->loss, 3) : "nan");
  }
  if (level->of_guessing && level->finite) {
    text += fmt::format(" ({} of guessing)", HumanNumber(level->value, 2));
  }
  if (again_ != nullptr && &trial != as_is_ && &trial != again_ && reference_) {
    const double unit = level->of_guessing && level->value > 0 ? level->loss / level->value : 1;
    text += spread_ > 0 ? fmt::format("; equal runs differ by {}", HumanNumber(spread_ * unit, 2))
                        : std::string("; another seed alone changes nothing");
  }
  return text;
}

}  // namespace whystop
