#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "try/host.h"
#include "try/plan.h"

namespace whystop {

struct TryLimits {
  std::chrono::nanoseconds budget{};       // For all trials together.
  std::chrono::nanoseconds trial_max{};    // For one.
  int side_by_side = 1;
};

/// What is going on, for a display.
struct TryProgress {
  std::vector<std::string> running;  // Specs.
  std::size_t done = 0;
  std::chrono::nanoseconds left{};
};

struct TryOutcome {
  bool out_of_time = false;  // There was more to ask.
  bool interrupted = false;
  std::string fault;         // Why trials could not begin here, or empty.
};

/// Runs the trials that `plan` asks for, in `folder`, until it asks for no more, time is up or
/// `stop` says so. `plan` is given the trials that are done and the specs that run.
using Planner = std::function<std::vector<std::string>(const std::vector<Trial>&,
                                                       const std::vector<std::string>&)>;
TryOutcome RunTrials(const Bench& bench, const TryLimits& limits, const std::string& folder,
                     const Planner& plan, const std::function<bool()>& stop,
                     const std::function<void(const TryProgress&)>& show);

}  // namespace whystop
