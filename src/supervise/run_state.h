#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace whystop {

/// The few facts that must survive either of our two processes: shared memory of front, keeper and,
/// until its exec, the job. Each is written by one process at a time.
struct RunState {
  /// How far one probe's ring is on record, so that who takes over does not record it twice.
  struct RingProgress {
    std::atomic<std::uint64_t> ring{0};   // Which ring; 0: this entry is free.
    std::atomic<std::uint64_t> taken{0};  // The last sequence number on record.
  };

  std::atomic<pid_t> job{0};  // Written by the job's process itself before anything can go wrong.
  std::atomic<int> exec_errno{0};  // Why the command could not be executed; 0: it was.
  std::atomic<int> stand_up_errno{0};  // Why whystop could not even try; the job does not run.
  std::atomic<bool> start_recorded{false};
  std::atomic<bool> job_ended{false};   // job_status is valid.
  std::atomic<int> job_status{0};       // As wait(2) gives it.
  std::atomic<bool> job_reaped{false};  // The pid may belong to another process from now on.
  std::atomic<bool> job_stopped{false};
  std::atomic<bool> front_stopped{false};  // The front stopped itself because the job did.
  std::atomic<bool> end_recorded{false};
  std::atomic<bool> stderr_line_open{false};  // The job's last byte on stderr was no line end.
  std::array<std::atomic<std::int64_t>, 2>
      followed_to{};                      // By channel: how far its file is on record.
  std::array<RingProgress, 256> rings{};  // Of more rings than that the last may be recorded twice.
};

struct RunStateUnmap {
  void operator()(RunState* state) const;
};
using SharedRunState = std::unique_ptr<RunState, RunStateUnmap>;

/// nullptr when the system refuses.
SharedRunState MakeSharedRunState();

}  // namespace whystop
