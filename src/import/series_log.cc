#include "import/series_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/observation_kind.h"

namespace whystop {
namespace {

bool IsLossRole(SeriesRole role) {
  return role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss || role == SeriesRole::kLossPart;
}

}  // namespace

void SeriesLog::SetFile(std::string file) {
  file_ = std::move(file);
  for (Event& event : prepared_) {
    std::get<Scalar>(event.body).place.file = file_;
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
  Scalar scalar;
  scalar.series = key;
  scalar.role = roles_.Of(key);
  scalar.place.file = file_;
  const bool is_loss = IsLossRole(scalar.role);
  prepared_.push_back(Event{.at = {}, .body = std::move(scalar)});
  if (is_loss) {  // It may be the total of losses that were known before.
    for (Event& event : prepared_) {
      Scalar& other = std::get<Scalar>(event.body);
      other.role = IsLossRole(other.role) ? roles_.Of(other.series) : other.role;
    }
  }
  const auto index = static_cast<SeriesIndex>(prepared_.size() - 1);
  index_.emplace(std::move(key), index);
  return index;
}

RunTime SeriesLog::SinceFirst(double wall_seconds) {
  constexpr double kSecondsMax = 1e9;  // 30 years: anything beyond is no time, and must not overflow.
  if (!first_wall_seconds_ && std::isfinite(wall_seconds) && wall_seconds > 0) {  // 0: not given.
    first_wall_seconds_ = wall_seconds;
  }
  const double seconds = wall_seconds - first_wall_seconds_.value_or(0);
  return seconds > 0 && seconds < kSecondsMax ? RunTime(static_cast<std::int64_t>(seconds * 1e9)) : RunTime{};
}

void SeriesLog::ReportStepBack(const std::string& counter, double from, double to, double first) {
  PushProgress();  // How far the earlier session came.
  // A resumed run goes on from a checkpoint; a new one begins where the first began, give or take a logging interval.
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
    first_epoch_ = first_epoch_ && !epoch_back ? first_epoch_ : position.epoch;
    last_epoch_ = position.epoch;
  }
}

void SeriesLog::Push(SeriesIndex series, double value, const RowPosition& position) {
  Event& event = prepared_[series];
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

void SeriesLog::Emit(EventBody body, RunTime at) { sink_.Push(Event{.at = at, .body = std::move(body)}); }

void SeriesLog::PushProgress() {
  Progress progress;
  progress.step = last_step_;
  progress.steps_planned = steps_planned_;
  progress.epochs_planned = epochs_planned_;
  progress.place.file = file_;
  if (last_epoch_) {
    // Counted from 0 by most loggers: the epoch that is named 0 is the first one begun.
    const bool whole_from_zero = *first_epoch_ == 0 && std::floor(*last_epoch_) == *last_epoch_;
    progress.epoch = whole_from_zero ? *last_epoch_ + 1 : *last_epoch_;
  }
  if (progress.step || progress.epoch || progress.steps_planned || progress.epochs_planned) {
    Emit(std::move(progress), last_at_);
  }
}

void SeriesLog::Finish() {
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
