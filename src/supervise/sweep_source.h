#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "model/event.h"

namespace whystop {

/// Looks at the job and its machine once a tick. Called from one thread of the process that
/// records: the keeper, or the front once it has taken over. It is made before the job is forked,
/// so it starts no thread before the first Sweep. A failure means that the readings are absent,
/// never more.
class SweepSource {
 public:
  virtual ~SweepSource() = default;
  virtual void Sweep(RunTime now, pid_t job, std::vector<Event>& out) = 0;
  /// The recorder has reaped this process and put its end on record.
  virtual void Reaped(pid_t /*pid*/) {}
  /// How long to wait before the next sweep: shorter when something nears a limit.
  virtual std::chrono::milliseconds NextInterval() { return std::chrono::seconds(1); }
};

}  // namespace whystop
