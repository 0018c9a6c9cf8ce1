#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "fit/fit_plan.h"
#include "try/host.h"

namespace whystop {

/// What all trials of one `whystop fit` have in common.
struct FitBench {
  Bench bench;
  std::string folder;  // Of the trials' recordings.
  std::chrono::nanoseconds deadline{};
  std::function<bool()> stop;
};

/// Runs the program for a few steps with `spec` ("batch=128"), within a limit of memory that holds
/// for this trial alone: a control group, or where none can be made the limit on private memory
/// that every process has. An error: no trial can be made, or there is no time left.
Result<FitTrial> RunFitTrial(const FitBench& bench, const std::string& spec, std::int64_t batch,
                             std::int64_t limit_bytes);

/// PSS of a process and all its descendants.
std::int64_t TreePssBytes(pid_t root);

}  // namespace whystop
