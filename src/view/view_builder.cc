#include "view/view_builder.h"

#include <algorithm>
#include <cmath>

#include "model/label_counts.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

constexpr std::size_t kSeriesMax = 512;  // Followed.
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
  series_.clear();
  heat_ = HeatMap();
  progress_ = Progress();
}

void ViewBuilder::Take(const Scalar& scalar, RunTime at) {
  const Key key{scalar.series, scalar.rank.value_or(-1), scalar.place.file};
  auto found = series_.find(key);
  if (found == series_.end()) {
    if (series_.size() >= kSeriesMax) {
      ++series_left_out_;
      return;
    }
    SeriesLine line;
    line.name = scalar.series;
    line.rank = scalar.rank;
    line.file = scalar.place.file;
    line.has_steps = scalar.step.has_value();
    found = series_.emplace(key, std::move(line)).first;
  }
  SeriesLine& line = found->second;
  line.role = scalar.role;  // Importers may learn it late.
  const double x =
      scalar.step ? static_cast<double>(*scalar.step) : static_cast<double>(line.line.points() + 1);
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

void ViewBuilder::Take(const Observation& seen, RunTime at) {
  if (seen.kind == kSessionStart) {
    StartOver();
  } else if (seen.kind == "labels") {
    const std::string* counts = seen.Text("counts");
    label_entropy_ = counts == nullptr ? std::nullopt : LabelEntropy(*counts);
  } else if (seen.kind == "loss-call") {
    const std::string* function = seen.Text("function");
    cross_entropy_ = function != nullptr &&
                     (function->find("cross_entropy") == 0 || function->find("nll_loss") == 0);
  }
  marks_.Take(seen, at);
}

void ViewBuilder::Take(const ExceptionSeen& seen) {
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

void ViewBuilder::Push(const Event& event) {
  last_at_ = std::max(last_at_, event.at);
  if (const auto* scalar = event.As<Scalar>()) {
    Take(*scalar, event.at);
  } else if (const auto* stats = event.As<TensorStats>()) {
    heat_.Push(*stats);
  } else if (const auto* sample = event.As<Sample>()) {
    resources_.Push(*sample, event.at);
    marks_.Take(*sample, event.at);
  } else if (const auto* progress = event.As<Progress>()) {
    Take(*progress, event.at);
  } else if (const auto* seen = event.As<Observation>()) {
    Take(*seen, event.at);
  } else if (const auto* subject = event.As<SubjectSeen>()) {
    resources_.Push(*subject);
    marks_.Take(*subject);
  } else if (const auto* started = event.As<ProcessStart>()) {
    lives_.Take(*started, event.at);
  } else if (const auto* end = event.As<ProcessEnd>()) {
    lives_.Take(*end, event.at);
    marks_.Take(*end, event.at);
  } else if (const auto* start = event.As<RunStart>()) {
    start_ = *start;
    lives_.Take(*start);
  } else if (event.As<RunEnd>() != nullptr) {
    ended_ = true;
  } else {
    if (const auto* exception = event.As<ExceptionSeen>()) {
      Take(*exception);
    }
    marks_.Take(event);
  }
}

RunView ViewBuilder::Build(std::vector<Finding> findings) const {
  RunView view;
  view.start = start_;
  view.last_at = last_at_;
  view.timed = last_at_ > RunTime{};
  view.ended = ended_;
  for (const auto& [key, line] : series_) {
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
  view.guess_level = cross_entropy_ ? label_entropy_ : std::nullopt;
  view.progress = progress_;
  view.frames = frames_;
  return view;
}

}  // namespace whystop
