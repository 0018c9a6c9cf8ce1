#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/message.h"

namespace whystop {

/// How long a run may be silent before it is worth a look, and why that long.
struct SilenceLimit {
  std::chrono::nanoseconds waiting{};  // For a run that does nothing at all...
  std::chrono::nanoseconds busy{};     // ...and for one that computes in the same place all the time.
  std::string reason;                  // "10 times its usual step of 30 s"
};

/// What a run has done so far, as far as its recording tells, and how long its pauses are. A
/// function of the records it is given: it asks no clock.
class ProgressWatch {
 public:
  /// `hang_after` is the user's own limit; absent: learned from the run.
  explicit ProgressWatch(std::optional<std::chrono::nanoseconds> hang_after)
      : hang_after_(hang_after) {}

  void Take(const Record& record);

  /// How long nothing has been done at `now`: no step where steps are seen, else no output.
  std::chrono::nanoseconds Silence(RunTime now) const;
  RunTime last_sign_at() const { return last_sign_; }
  SilenceLimit Limit() const;
  /// "step 812", "a line of output", "its start".
  std::string LastSign() const;
  /// Steps by process: the number of the last one and when it was made.
  struct Stepped {
    std::int64_t step = 0;
    RunTime at{};
    std::optional<int> rank;  // Of a distributed job.
  };
  const std::map<std::int64_t, Stepped>& steps() const { return steps_; }
  std::int64_t FurthestStep() const;  // Of all of them.

  std::int64_t job_pid() const { return job_pid_; }
  bool ended() const { return ended_; }
  /// Use of the busiest GPU, as last read.
  std::int64_t gpu_percent() const { return gpu_percent_; }
  /// What to add to the wall clock to get the run's own time; absent before the first tie.
  std::optional<std::chrono::nanoseconds> wall_offset() const { return wall_offset_; }

 private:
  void Take(const Event& event);
  void Take(const Sample& sample);
  void Take(const ProbeSlots& probe, RunTime at);
  void Signed(RunTime at);

  std::optional<std::chrono::nanoseconds> hang_after_;
  std::int64_t job_pid_ = 0;
  bool ended_ = false;
  RunTime last_sign_{};
  bool has_output_ = false;
  std::vector<std::chrono::nanoseconds> pauses_;  // The newest; a ring of kPausesKept.
  std::size_t pause_next_ = 0;
  std::chrono::nanoseconds longest_pause_{};
  std::map<std::int64_t, Stepped> steps_;
  std::map<std::int64_t, int> ranks_;  // By process.
  std::int64_t gpu_percent_ = 0;
  std::optional<std::chrono::nanoseconds> wall_offset_;
};

}  // namespace whystop
