#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "diagnose/time_limits.h"
#include "model/case_file.h"
#include "diagnose/first_and_last.h"
#include "model/event.h"

namespace whystop {

/// Collects what causes weigh from the events of a run. Memory is bounded whatever the run did: of
/// things that repeat, the first and the last are kept.
class CaseBuilder final : public EventSink {
 public:
  CaseBuilder() = default;
  CaseBuilder(const CaseBuilder&) = delete;
  CaseBuilder& operator=(const CaseBuilder&) = delete;

  void Push(const Event& event) override;

  /// The case as known now. Findings are the caller's to add.
  CaseFile Build() const;

 private:
  template <typename T>
  struct Kept {
    std::int64_t order = 0;
    std::int64_t metrics_before = 0;          // In all.
    std::int64_t metrics_before_in_file = 0;  // In the file that the value is from.
    RunTime at{};
    T value;
  };

  void Take(const RunStart& start);
  void Take(const Sample& sample, RunTime at);
  void Take(const ProcessEnd& ended);
  void Take(const LogFact& fact);
  void Take(const ExceptionSeen& seen);
  void Take(const Progress& progress);
  void Take(const Observation& seen);
  void TakeStep(const Progress& progress);
  void StartSession();
  Progress ProgressNow() const;
  template <typename T>
  Kept<T> Keep(const T& value) const;
  template <typename T>
  std::int64_t MetricsAfter(const Kept<T>& kept) const;
  void CountMetric(const std::string& file);
  std::int64_t MetricsOf(const std::string& file) const;

  /// The furthest that was seen of one count.
  struct Progresses {
    Progress now;
    void Take(const Progress& progress);
  };

  TimeLimits time_limits_;
  CaseFile file_;
  Progresses probe_progress_;
  Progresses log_progress_;
  RunTime now_{};  // Of the event that is being taken.
  std::map<std::string, std::int64_t> file_metrics_;
  std::pair<const std::string, std::int64_t>* last_file_ =
      nullptr;                // Of file_metrics_: the last one counted.
  RunTime last_metric_at_{};  // When the last metric point was made, which may be before it was
                              // collected.
  std::int64_t order_ = 0;
  std::unordered_map<SubjectId, Subject> subjects_;
  /// Samples name the same readings in the same order, so each one knows which came next the last
  /// time.
  struct WatchedReading {
    std::uint64_t key = 0;  // Of subject and quantity.
    ReadingHistory history;
    WatchedReading* next = nullptr;
  };
  WatchedReading* Find(const Reading& reading, std::uint64_t key, RunTime at);
  std::unordered_map<std::uint64_t, WatchedReading>
      readings_;  // By their keys; nodes stay where they are.
  FirstAndLast<ProcessEnd> failed_processes_{64, 64};
  FirstAndLast<ProcessEnd> ended_processes_{16, 48};
  FirstAndLast<SignalSeen> signals_{16, 48};
  FirstAndLast<KernelLine> kernel_lines_{64, 64};
  std::map<std::pair<std::string, LogFact::Role>, FirstAndLast<Kept<LogFact>>> log_facts_;
  FirstAndLast<Kept<ExceptionSeen>> exceptions_{8, 24};
  std::map<std::string, FirstAndLast<Kept<Observation>>> observations_;
  std::map<std::int64_t, ProcessSteps> steps_;
  FirstAndLast<RecorderNote> notes_{32, 32};
  std::map<std::string, std::int64_t> drops_;
};

}  // namespace whystop
