#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "record/message.h"
#include "watch/phase_pauses.h"

namespace whystop {

struct Slot;

/// What a run has done so far, as far as its recording tells, and how long its pauses are, each phase by itself. A
/// function of the records it is given: it asks no clock.
class ProgressWatch {
 public:
  /// `hang_after` is the user's own limit; absent: learned from the run.
  explicit ProgressWatch(std::optional<std::chrono::nanoseconds> hang_after)
      : hang_after_(hang_after) {}

  void Take(const Record& record);

  /// How long nothing has been done at `now`: no step where steps are seen, else no output, and no
  /// other phase began.
  std::chrono::nanoseconds Silence(RunTime now) const;
  RunTime last_sign_at() const { return last_sign_; }
  SilenceLimit Limit() const;
  /// "step 812", "eval after step 812", "a line of output", "its start".
  std::string LastSign() const;
  /// Steps by process: the number of the last one and when it was made.
  struct Stepped {
    std::int64_t step = 0;
    RunTime at{};
    std::optional<int> rank;  // Of a distributed job.
  };
  const std::map<std::int64_t, Stepped>& steps() const { return steps_; }
  struct Rank {
    int rank = 0;
    int ranks = 0;
  };
  /// As the probe tells it; nullopt: the process is none of several.
  std::optional<Rank> RankOf(std::int64_t pid) const;
  std::int64_t FurthestStep() const;  // Of all of them.

  std::int64_t job_pid() const { return job_pid_; }
  bool ended() const { return ended_; }
  /// Use of the busiest GPU, as last read.
  std::int64_t gpu_percent() const { return gpu_percent_; }
  /// What to add to the wall clock to get the run's own time; absent before the first tie.
  std::optional<std::chrono::nanoseconds> wall_offset() const { return wall_offset_; }

 private:
  void Take(const Event& event);
  void Take(const Sample& sample, RunTime at);
  void Take(const ProbeSlots& probe, RunTime at);
  bool TakeStep(const Slot& slot, std::int64_t pid, RunTime at);
  void TakeOutput(RunTime at);
  void TakeWritten(std::int64_t bytes, RunTime at);
  /// Something was done: a pause of the phase so far is over.
  void Signed(RunTime at);
  /// `said_by`: the process that told of the phase and tells of its end; 0: it was seen from outside.
  void Enter(std::string_view phase, std::int64_t said_by, RunTime at);

  std::optional<std::chrono::nanoseconds> hang_after_;
  std::int64_t job_pid_ = 0;
  bool ended_ = false;
  RunTime last_sign_{};
  bool has_output_ = false;
  std::string phase_{kStartPhase};
  std::int64_t phase_said_by_ = 0;
  std::map<std::string, PhasePauses, std::less<>> pauses_;  // By phase.
  std::int64_t written_bytes_ = 0;  // By the whole job so far...
  std::int64_t written_then_ = 0;   // ...and at the last sign.
  std::map<std::int64_t, Stepped> steps_;
  std::map<std::int64_t, Rank> ranks_;  // By process.
  std::int64_t gpu_percent_ = 0;
  std::optional<std::chrono::nanoseconds> wall_offset_;
};

}  // namespace whystop
