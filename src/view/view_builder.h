#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/series_table.h"
#include "model/steps_told.h"
#include "view/life_lines.h"
#include "view/mark_list.h"
#include "view/run_view.h"

namespace whystop {

/// Takes the events of one run and keeps what its picture needs. Bounded in memory; may be asked at
/// any time.
class ViewBuilder final : public EventSink {
 public:
  void Push(const Event& event) override;

  /// `findings`: what the detectors saw, for the marks and the noise of each series.
  RunView Build(std::vector<Finding> findings) const;

  const std::optional<RunStart>& start() const { return start_; }
  const Progress& progress() const { return progress_; }
  const ResourceLines& resources() const { return resources_; }
  RunTime last_at() const { return last_at_; }

 private:
  static constexpr std::size_t kSeriesMax = 512;  // Followed.

  void Take(const Scalar& scalar, RunTime at);
  void Take(const Progress& progress, RunTime at);
  void Take(const Observation& seen, RunTime at);
  void Take(const ExceptionSeen& seen, RunTime at);
  void Take(const RunStart& start, RunTime at);
  void Take(const RunEnd&, RunTime) { ended_ = true; }
  void Take(const TensorStats& stats, RunTime) { heat_.Push(stats); }
  void Take(const Sample& sample, RunTime at) { resources_.Push(sample, at); }
  void Take(const SubjectSeen& seen, RunTime) { resources_.Push(seen); }
  void Take(const ProcessStart& started, RunTime at) { lives_.Take(started, at); }
  void Take(const ProcessEnd& end, RunTime at) { lives_.Take(end, at); }
  /// Every other kind of event is for the marks alone.
  template <typename Other>
  void Take(const Other&, RunTime) {}

  void StartOver();

  std::optional<RunStart> start_;
  RunTime last_at_{};
  bool ended_ = false;
  SeriesTable<SeriesLine, kSeriesMax> series_;
  std::int64_t series_left_out_ = 0;
  StepsTold steps_;
  ResourceLines resources_;
  HeatMap heat_;
  MarkList marks_;
  LifeLines lives_;
  Progress progress_;
  std::vector<Place> frames_;
};

}  // namespace whystop
