#pragma once

#include <string>
#include <utility>
#include <vector>

#include "detect/detector.h"
#include "detect/series_history.h"
#include "detect/series_shape.h"
#include "model/series_table.h"

namespace whystop {

/// One series as a rule sees it when a verdict is asked for.
struct WatchedSeries {
  SeriesRole role = SeriesRole::kOther;
  SeriesHistory history;
  RunTime first_at{};
  RunTime last_at{};
};

/// Base of the rules that look at whole series once the run is over: keeps the histories, leaves
/// the judging.
class HistoryDetector : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    thinned_ = thinned_ || SaysThinned(event);
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr || !Wants(*scalar)) {
      return;
    }
    const bool lower_is_better = !IsScore(scalar->role);
    WatchedSeries* series = table_.Find(*scalar, [&] {
      return WatchedSeries{scalar->role, SeriesHistory(lower_is_better), event.at, event.at};
    });
    if (series != nullptr) {
      series->history.Push(*scalar, thinned_);
      series->last_at = event.at;
    }
  }

  void Finish(FindingSink& out) override {
    for (const auto& [key, series] : table_.states()) {
      Judge(key.name, series, out);
    }
  }

 protected:
  virtual bool Wants(const Scalar& scalar) const { return scalar.role == SeriesRole::kTrainLoss; }
  virtual void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) = 0;
  const SeriesTable<WatchedSeries>& table() const { return table_; }

  /// A finding about a whole series.
  static Finding About(std::string detector, const std::string& name, const WatchedSeries& series) {
    Finding finding;
    finding.detector = std::move(detector);
    finding.at = series.last_at;
    finding.step_from = series.history.step_from();
    finding.step_to = series.history.step_to();
    finding.series = name;
    return finding;
  }

 private:
  SeriesTable<WatchedSeries> table_;
  bool thinned_ = false;
};

inline void AddFact(Finding& finding, std::string name, double value) {
  finding.facts.push_back({std::move(name), value, {}});
}
inline void AddFact(Finding& finding, std::string name, std::string text) {
  finding.facts.push_back({std::move(name), 0, std::move(text)});
}

}  // namespace whystop
