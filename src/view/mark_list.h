#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"
#include "model/finding.h"
#include "view/run_view.h"

namespace whystop {

/// What happened, for the time axis: signals, kills, failures, loops that were left, epochs.
/// Bounded by kind, so that a chatty one cannot push out a rare one.
class MarkList {
 public:
  void Epoch(RunTime at, std::optional<std::int64_t> step, double epoch);
  void Push(const Event& event);

  /// With what the detectors saw.
  std::vector<TimeMark> InOrder(const std::vector<Finding>& findings) const;

 private:
  void Take(const Observation& seen, RunTime at);
  void Take(const Sample& sample, RunTime at);
  void Take(const SubjectSeen& seen, RunTime at);
  void Take(const ProcessEnd& end, RunTime at);
  void Take(const SignalSeen& seen, RunTime at);
  void Take(const LogFact& fact, RunTime at);
  void Take(const ExceptionSeen& seen, RunTime at);
  void Take(const KernelLine& line, RunTime at);
  void Take(const ClockTie& tie, RunTime at);
  void Take(const RecorderNote& note, RunTime at);
  /// Of every other kind of event nothing is marked.
  template <typename Other>
  void Take(const Other&, RunTime) {}

  void Add(TimeMark mark);

  std::vector<TimeMark> marks_;
  std::vector<TimeMark> epochs_;
  std::int64_t epochs_seen_ = 0;
  std::int64_t epochs_a_mark_ = 1;
  std::map<std::string, std::int64_t> counts_;
  std::set<std::string> told_once_;  // Causes of log facts, and words that come again and again.
  std::map<std::pair<SubjectId, Quantity>, std::int64_t> kills_;
  std::map<SubjectId, Subject> subjects_;
};

}  // namespace whystop
