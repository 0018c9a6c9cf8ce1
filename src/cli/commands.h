#pragma once

#include "cli/options.h"

namespace whystop {

// Each command returns the process's exit status. stdout is the answer, stderr is everything else.
int Run(const RunOptions& options);
int Why(const WhyOptions& options);
int Runs(const RunsOptions& options);
int Explain(const ExplainOptions& options);
int Inspect(const InspectOptions& options);
int Doctor(const DoctorOptions& options);
int InstallHook(const InstallHookOptions& options);

inline constexpr int kExitUsage = 2;

}  // namespace whystop
