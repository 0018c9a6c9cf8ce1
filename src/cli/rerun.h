#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "model/event.h"
#include "try/host.h"

namespace whystop {

/// What a recorded run tells about how to run it again.
struct Recorded final : EventSink {
  RunStart start;
  bool started = false;
  bool alive = false;
  std::optional<RunTime> first_step;
  std::optional<RunTime> last_step;
  std::int64_t steps = 0;
  std::int64_t rss_bytes_max = 0;
  std::optional<std::int64_t> group_limit_bytes;  // Of its control groups the smallest.
  bool cuda = false;

  void Push(const Event& event) override;
};

/// A run that can be run again.
struct Rerun {
  std::string directory;  // Of the recording.
  Recorded run;
  std::vector<std::string> command;
  std::chrono::nanoseconds budget{};
};

/// Finds the recording that is meant and checks that its program can be run again here; says what
/// the user should know of it.
Result<Rerun> PrepareRerun(const RerunOptions& options);

/// The bench for its trials, `jobs` of them side by side.
Bench BenchFor(const Rerun& rerun, const RerunOptions& options, int jobs);

/// Memory that a new program could have without driving the machine into swap.
std::int64_t AvailableBytes();

}  // namespace whystop
