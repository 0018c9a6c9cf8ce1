#include "import/series_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/observation_kind.h"

namespace whystop {
namespace {

bool IsLossRole(SeriesRole role) {
  return role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss ||
         role == SeriesRole::kLossPart;
}

}  // namespace

void SeriesLog::SetFile(std::string file) {
  file_ = std::move(file);
  for (Series& series : prepared_) {
    std::get<Scalar>(series.event.body).place.file = file_;
  }
}

std::optional<SeriesLog::SeriesIndex> SeriesLog::Find(std::string_view name) {
  std::string key(name.substr(0, kNameBytesMax));
  const auto found = index_.find(key);
  if (found != index_.end()) {
    return found->second;
  }
  if (prepared_.size() >= kSeriesMax) {
    Dropped("import.series_over_limit");
    return std::nullopt;
  }
  const auto known_before = LossKnowledge();
  Scalar scalar;
  scalar.series = key;
  scalar.role = roles_.Of(key);
  const bool is_loss = IsLossRole(scalar.role);
  const bool is_term = is_loss && IsLossTerm(key);
  const bool is_held_out = is_term && RoleOfSeries(key) == SeriesRole::kValidationLoss;
  const SeriesIndex index = Add(std::move(scalar));
  prepared_[index].is_term = is_term;
  prepared_[index].is_held_out = is_held_out;
  if (is_term) {
    (is_held_out ? held_out_terms_ : train_terms_).sum.AddTerm();
  }
  if (LossKnowledge() != known_before) {
    AssignLossRoles();  // Seldom: the cost grows with the number of series.
  } else if (is_term && (is_held_out ? held_out_terms_ : train_terms_).sum.in_use()) {
    std::get<Scalar>(prepared_[index].event.body).role = SeriesRole::kLossPart;
  }
  index_.emplace(std::move(key), index);
  return index;
}

std::array<bool, 4> SeriesLog::LossKnowledge() const {
  return {roles_.HasTotal(false), roles_.HasTotal(true), train_terms_.sum.in_use(),
          held_out_terms_.sum.in_use()};
}

SeriesLog::SeriesIndex SeriesLog::Add(Scalar scalar) {
  scalar.place.file = file_;
  Series series;
  series.event.body = std::move(scalar);
  prepared_.push_back(std::move(series));
  return static_cast<SeriesIndex>(prepared_.size() - 1);
}

/// A new series may be the total of losses that were known before, or the second term that makes a
/// sum worth while.
void SeriesLog::AssignLossRoles() {
  for (Series& series : prepared_) {
    Scalar& scalar = std::get<Scalar>(series.event.body);
    if (!IsLossRole(scalar.role) || series.is_sum) {
      continue;
    }
    const LossSum& sum = series.is_held_out ? held_out_terms_.sum : train_terms_.sum;
    scalar.role = series.is_term && sum.in_use() ? SeriesRole::kLossPart : roles_.Of(scalar.series);
  }
}

RunTime SeriesLog::SinceFirst(double wall_seconds) {
  constexpr double kSecondsMax =
      1e9;  // 30 years: anything beyond is no time, and must not overflow.
  if (!first_wall_seconds_ && std::isfinite(wall_seconds) && wall_seconds > 0) {  // 0: not given.
    first_wall_seconds_ = wall_seconds;
  }
  const double seconds = wall_seconds - first_wall_seconds_.value_or(0);
  return seconds > 0 && seconds < kSecondsMax ? RunTime(static_cast<std::int64_t>(seconds * 1e9))
                                              : RunTime{};
}

void SeriesLog::ReportStepBack(const std::string& counter, double from, double to, double first) {
  PushProgress();  // How far the earlier session came.
  countdown_ = {};
  // A resumed run goes on from a checkpoint; a new one begins where the first began, give or take a
  // logging interval.
  const bool resumed = to > first + 0.1 * (from - first);
  Observation observation;
  observation.kind = resumed ? kSessionResumed : kSessionStart;
  observation.attributes = {{"counter", counter}, {"from", from}, {"to", to}, {"file", file_}};
  Observe(std::move(observation), last_at_);
}

void SeriesLog::BeginRow(const RowPosition& position) {
  last_at_ = std::max(last_at_, position.at);
  const bool step_back = position.step && last_step_ && *position.step < *last_step_;
  const bool epoch_back = position.epoch && last_epoch_ && *position.epoch < *last_epoch_;
  if (step_back) {
    ReportStepBack("step", static_cast<double>(*last_step_), static_cast<double>(*position.step),
                   static_cast<double>(*first_step_));
  } else if (epoch_back && !position.step) {
    ReportStepBack("epoch", *last_epoch_, *position.epoch, *first_epoch_);
  }
  if (position.step) {
    first_step_ = first_step_ && !step_back ? first_step_ : position.step;
    last_step_ = position.step;
  }
  if (position.epoch && std::isfinite(*position.epoch)) {
    epochs_are_whole_ = epochs_are_whole_ && std::floor(*position.epoch) == *position.epoch;
    first_epoch_ = first_epoch_ && !epoch_back ? first_epoch_ : position.epoch;
    last_epoch_ = position.epoch;
  }
}

void SeriesLog::AddTerm(const Series& series, double value, const RowPosition& position) {
  Terms& terms = series.is_held_out ? held_out_terms_ : train_terms_;
  if (position.step != terms.position.step || position.epoch != terms.position.epoch) {
    PushSum(terms, series.is_held_out);
  }
  terms.position = position;
  terms.sum.Add(value);
}

void SeriesLog::PushSum(Terms& terms, bool held_out) {
  const bool was_in_use = terms.sum.in_use();
  const std::optional<double> sum = terms.sum.Take();
  if (was_in_use != terms.sum.in_use()) {
    AssignLossRoles();
  }
  if (!sum || !was_in_use || roles_.HasTotal(held_out)) {
    return;
  }
  if (!terms.series) {
    Scalar scalar;
    scalar.series = held_out ? "sum of validation losses" : "sum of training losses";
    scalar.role = held_out ? SeriesRole::kValidationLoss : SeriesRole::kTrainLoss;
    terms.series = Add(std::move(scalar));
    prepared_[*terms.series].is_sum = true;
  }
  Push(*terms.series, *sum, terms.position);
}

void SeriesLog::Push(SeriesIndex series, double value, const RowPosition& position) {
  if (prepared_[series].is_term) {
    AddTerm(prepared_[series], value, position);
  }
  Event& event = prepared_[series].event;
  Scalar& scalar = std::get<Scalar>(event.body);
  event.at = position.at;
  scalar.value = value;
  scalar.step = position.step;
  scalar.epoch = position.epoch;
  scalar.place.line = position.line;
  ++points_;
  sink_.Push(event);
}

void SeriesLog::SetPlan(std::optional<std::int64_t> steps, std::optional<double> epochs) {
  steps_planned_ = steps ? steps : steps_planned_;
  epochs_planned_ = epochs ? epochs : epochs_planned_;
}

void SeriesLog::Observe(Observation observation, RunTime at) { Emit(std::move(observation), at); }

void SeriesLog::Emit(EventBody body, RunTime at) {
  sink_.Push(Event{.at = at, .body = std::move(body)});
}

void SeriesLog::PushProgress() {
  Progress progress;
  progress.step = last_step_;
  progress.steps_planned = steps_planned_;
  progress.epochs_planned = epochs_planned_;
  progress.place.file = file_;
  if (last_epoch_) {
    // Counted from 0 by most loggers: the epoch that is named 0 is the first one begun.
    progress.epoch = *first_epoch_ == 0 && epochs_are_whole_ ? *last_epoch_ + 1 : *last_epoch_;
  }
  if (progress.step || progress.epoch || progress.steps_planned || progress.epochs_planned) {
    Emit(std::move(progress), last_at_);
  }
}

void SeriesLog::Finish() {
  PushSum(train_terms_, false);
  PushSum(held_out_terms_, true);
  PushProgress();
  if (points_ == 0) {
    Observation empty;
    empty.kind = kMetricsEmpty;
    empty.attributes = {{"file", file_}};
    Observe(std::move(empty), last_at_);
  }
  for (const auto& [counter, count] : drops_) {
    Emit(Drop{.counter = counter, .count = count}, last_at_);
  }
  drops_.clear();
}

}  // namespace whystop
