#pragma once

#include "cli/options.h"

namespace whystop {

// Each command returns the process's exit status. stdout is the answer, stderr is everything else.
int Run(const RunOptions& options);
int Why(const WhyOptions& options);
int Runs(const RunsOptions& options);
int Prune(const PruneOptions& options);
int Explain(const ExplainOptions& options);
int Inspect(const InspectOptions& options);
int Doctor(const DoctorOptions& options);
int Attach(const AttachOptions& options);
int WatchHangs(const WatchHangsOptions& options);
int Notify(const NotifyOptions& options);
int CompleteWords(const CompleteWordsOptions& options);
int Report(const ReportOptions& options);
int Export(const ExportOptions& options);
int Serve(const ServeOptions& options);
int Top(const TopOptions& options);
int Try(const TryOptions& options);
int Fit(const FitOptions& options);
int InstallKernel(const InstallKernelOptions& options);
int InstallHook(const InstallHookOptions& options);

inline constexpr int kExitUsage = 2;

}  // namespace whystop
