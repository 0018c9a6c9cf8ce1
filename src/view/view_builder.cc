#include "view/view_builder.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "model/observation_kind.h"

namespace whystop {
namespace {

constexpr std::size_t kFramesShown = 4;
constexpr std::size_t kSeriesShown = 48;  // Handed out, the most telling first.

/// Which series a person wants to see first.
int OrderOf(SeriesRole role) {
  switch (role) {
    case SeriesRole::kTrainLoss:
      return 0;
    case SeriesRole::kValidationLoss:
      return 1;
    case SeriesRole::kTrainScore:
    case SeriesRole::kValidationScore:
      return 2;
    case SeriesRole::kLearningRate:
      return 3;
    case SeriesRole::kGradientNorm:
      return 4;
    case SeriesRole::kLossScale:
      return 5;
    default:
      return 6;
  }
}

void TakeNoise(const std::vector<Finding>& findings, std::vector<SeriesLine>& series) {
  for (const Finding& finding : findings) {
    if (finding.detector != "loss/trend") {
      continue;
    }
    for (SeriesLine& line : series) {
      if (line.name == finding.series && !line.noise) {
        line.noise = finding.Number("noise");
      }
    }
  }
}

}  // namespace

void ViewBuilder::StartOver() {
  series_.Clear();
  heat_ = HeatMap();
  progress_ = Progress();
  steps_.Clear();
}

void ViewBuilder::Take(const Scalar& scalar, RunTime at) {
  const std::optional<std::int64_t> step = steps_.Of(scalar);
  SeriesLine* found = series_.Find(scalar, [&scalar, &step] {
    SeriesLine line;
    line.name = scalar.series;
    line.rank = scalar.rank;
    line.file = scalar.place.file;
    line.has_steps = step.has_value();
    return line;
  });
  if (found == nullptr) {
    ++series_left_out_;
    return;
  }
  SeriesLine& line = *found;
  line.role = scalar.role;  // Importers may learn it late.
  const double x = line.has_steps && step ? static_cast<double>(*step) : static_cast<double>(line.line.points() + 1);
  line.line.Push(x, at, scalar.value);
}

void ViewBuilder::Take(const Progress& progress, RunTime at) {
  if (progress.epoch &&
      (!progress_.epoch || std::floor(*progress.epoch) != std::floor(*progress_.epoch))) {
    marks_.Epoch(at, progress.step, std::floor(*progress.epoch));
  }
  progress_.epoch = progress.epoch ? progress.epoch : progress_.epoch;
  progress_.epochs_planned =
      progress.epochs_planned ? progress.epochs_planned : progress_.epochs_planned;
  progress_.step = progress.step ? progress.step : progress_.step;
  progress_.steps_planned =
      progress.steps_planned ? progress.steps_planned : progress_.steps_planned;
}

void ViewBuilder::Take(const Observation& seen, RunTime) {
  if (seen.kind == kSessionStart) {
    StartOver();
  }
}

void ViewBuilder::Take(const ExceptionSeen& seen, RunTime) {
  if (!seen.ended_process) {
    return;
  }
  frames_.clear();
  for (auto frame = seen.frames.rbegin(); frame != seen.frames.rend(); ++frame) {
    if (frame->users_own && frames_.size() < kFramesShown) {
      frames_.push_back({frame->file, frame->line});
    }
  }
}

void ViewBuilder::Take(const RunStart& start, RunTime) {
  start_ = start;
  lives_.Take(start);
}

void ViewBuilder::Push(const Event& event) {
  last_at_ = std::max(last_at_, event.at);
  marks_.Push(event);
  std::visit([this, &event](const auto& body) { Take(body, event.at); }, event.body);
}

RunView ViewBuilder::Build(std::vector<Finding> findings) const {
  RunView view;
  view.start = start_;
  view.last_at = last_at_;
  view.timed = last_at_ > RunTime{};
  view.ended = ended_;
  for (const auto& [key, line] : series_.states()) {
    view.series.push_back(line);
  }
  std::stable_sort(
      view.series.begin(), view.series.end(),
      [](const SeriesLine& a, const SeriesLine& b) { return OrderOf(a.role) < OrderOf(b.role); });
  view.series_left_out = series_left_out_;
  if (view.series.size() > kSeriesShown) {
    view.series_left_out += static_cast<std::int64_t>(view.series.size() - kSeriesShown);
    view.series.resize(kSeriesShown);
  }
  TakeNoise(findings, view.series);
  view.resources = resources_.Lines();
  view.heat = heat_;
  view.marks = marks_.InOrder(findings);
  view.processes = lives_.Chosen();
  view.processes_left_out = lives_.left_out();
  view.findings = std::move(findings);
  view.progress = progress_;
  view.frames = frames_;
  return view;
}

}  // namespace whystop
