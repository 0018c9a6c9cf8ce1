#include "import/metric_rows.h"

#include <cmath>
#include <optional>

namespace whystop {

std::optional<std::int64_t> WholeNumber(double number) {
  if (!(std::abs(number) < 9e15) || std::floor(number) != number) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

RowPosition MetricRows::PositionOf(const JsonRow& row, RowPosition position) {
  std::optional<std::int64_t> step;
  bool numbered = false;
  std::size_t at = 0;
  for (const auto& [name, value] : row.numbers()) {
    switch (Lookup(at++, name).key) {
      case PositionKey::kStep:
        step = step ? step : WholeNumber(value);
        break;
      case PositionKey::kRowNumber:
        numbered = true;
        position.step = WholeNumber(value);
        break;
      case PositionKey::kEpoch:
        position.epoch = value;
        break;
      case PositionKey::kStepsPlanned:
        log_.SetPlan(WholeNumber(value), std::nullopt);
        break;
      case PositionKey::kEpochsPlanned:
        log_.SetPlan(std::nullopt, value);
        break;
      case PositionKey::kWallSeconds:
        position.at = log_.SinceFirst(value);
        break;
      case PositionKey::kRunSeconds:
        position.at =
            RunTime(static_cast<std::int64_t>(value > 0 && value < 1e9 ? value * 1e9 : 0));
        break;
      case PositionKey::kTimeLeft:
        log_.PushTimeLeft(value);
        break;
      case PositionKey::kNone:
        break;
    }
  }
  if (step) {
    position.step = step;
  } else if (position.epoch && !numbered) {
    position.step.reset();  // An epoch says where the row stands; a made-up step would not.
  }
  return position;
}

const MetricRows::Known& MetricRows::Lookup(std::size_t at, const std::string& name) {
  if (at >= known_.size()) {
    known_.resize(at + 1);
  }
  Known& known = known_[at];
  if (known.name != name || name.empty()) {
    known.name = name;
    known.key = PositionKeyOf(name);
    known.series = known.key == PositionKey::kNone ? log_.Find(name) : std::nullopt;
  }
  return known;
}

void MetricRows::Take(const JsonRow& row, RowPosition fallback) {
  ++rows_;
  const RowPosition position = PositionOf(row, fallback);
  bool is_training = false;
  for (std::size_t i = 0; i < row.numbers().size();
       ++i) {  // All names are known now: a total makes its terms parts.
    const auto series = known_[i].series;
    is_training = is_training || (series && log_.role(*series) == SeriesRole::kTrainLoss);
    is_training = is_training || known_[i].key == PositionKey::kStepsPlanned;  // "8712 of 8712", whatever else is null.
  }
  if (is_training) {  // Rows of an evaluation may count differently.
    log_.BeginRow(position);
  }
  for (std::size_t i = 0; i < row.numbers().size(); ++i) {
    if (known_[i].series) {
      log_.Push(*known_[i].series, row.numbers()[i].value, position);
    }
  }
}

}  // namespace whystop
