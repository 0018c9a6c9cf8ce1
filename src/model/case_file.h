#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "model/finding.h"

namespace whystop {

/// First, last and extreme value of one quantity of one subject over the run.
struct ReadingHistory {
  Subject subject;
  Quantity quantity{};
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  RunTime first_at{};
  RunTime last_at{};
  std::int64_t Rise() const { return last - first; }
};

/// The steps of one process that trains.
struct ProcessSteps {
  std::int64_t process = 0;
  std::optional<int> rank;
  std::int64_t first = 0;  // Numbers of the first and the last one that was seen.
  std::int64_t last = 0;
  RunTime first_at{};
  RunTime last_at{};
};

/// Everything known about one run when it is judged: what causes weigh. Built by diagnose/,
/// bounded.
struct CaseFile {
  std::optional<RunStart> start;
  std::optional<RunEnd>
      end;  // Absent: the recording was never finished, or this is a post-mortem on files.
  std::optional<TextEnd> text_end;  // Post-mortem only.
  bool job_alive = false;           // The job's process was seen alive just now.
  bool watched = false;  // whystop supervised the run: absence of a sign means something.
  RunTime last_at{};     // Time of the last event.

  std::vector<ProcessEnd>
      process_ends;  // Without the job's own; bounded, abnormal ends are kept first.
  std::optional<ProcessEnd> job_end;
  std::vector<std::string> time_limits_met;  // What ran under a limit anywhere in the tree and was ended by it, in words.
  std::vector<SignalSeen> signals;
  std::chrono::nanoseconds suspended{};
  std::vector<KernelLine> kernel_lines;  // Only those that matter (OOM, segfault, Xid, I/O errors).
  std::vector<LogFact> log_facts;  // In order; bounded, first and last of each cause are kept.
  std::vector<ExceptionSeen> exceptions;
  std::vector<Observation> observations;  // Bounded per kind: first and last are kept.
  std::vector<Finding> findings;
  std::vector<ReadingHistory> readings;
  std::vector<ProcessSteps> steps;  // By process; bounded.
  std::vector<Drop> drops;
  std::vector<std::string> notes;
  Progress progress;               // The furthest seen, of the last session.
  std::int64_t metric_points = 0;  // Scalars seen, of the last session.
  std::int64_t sessions = 1;       // Runs that one appended log holds; the last one is judged.
  bool probe_loaded = false;

  const Finding* FindFirst(std::string_view detector) const;
  const ReadingHistory* Find(Subject::Kind kind,
                             Quantity quantity) const;  // First subject of that kind.
  std::vector<const ReadingHistory*> FindAll(Quantity quantity) const;
  const LogFact* FindLog(std::string_view cause, LogFact::Role role) const;
  const Observation* FindObservation(std::string_view kind) const;  // The last of that kind.
  int Signal() const;  // That ended the job; 0: none or not known.
  std::optional<int> ExitCode() const;
};

}  // namespace whystop
