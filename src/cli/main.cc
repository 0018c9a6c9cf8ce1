#include <exception>
#include <variant>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "supervise/supervise.h"

namespace whystop {
namespace {

struct Dispatch {
  int operator()(const RunOptions& options) const { return Run(options); }
  int operator()(const WhyOptions& options) const { return Why(options); }
  int operator()(const RunsOptions& options) const { return Runs(options); }
  int operator()(const PruneOptions& options) const { return Prune(options); }
  int operator()(const ExplainOptions& options) const { return Explain(options); }
  int operator()(const InspectOptions& options) const { return Inspect(options); }
  int operator()(const DoctorOptions& options) const { return Doctor(options); }
  int operator()(const AttachOptions& options) const { return Attach(options); }
  int operator()(const WatchHangsOptions& options) const { return WatchHangs(options); }
  int operator()(const NotifyOptions& options) const { return Notify(options); }
  int operator()(const CompleteWordsOptions& options) const { return CompleteWords(options); }
  int operator()(const ReportOptions& options) const { return Report(options); }
  int operator()(const ExportOptions& options) const { return Export(options); }
  int operator()(const ServeOptions& options) const { return Serve(options); }
  int operator()(const TopOptions& options) const { return Top(options); }
  int operator()(const InstallHookOptions& options) const { return InstallHook(options); }
  int operator()(const InstallKernelOptions& options) const { return InstallKernel(options); }
  int operator()(const TryOptions& options) const { return Try(options); }
  int operator()(const FitOptions& options) const { return Fit(options); }
};

}  // namespace
}  // namespace whystop

int main(int argc, char** argv) {
  whystop::HoldStandardDescriptors();
  try {
    const whystop::ParsedLine line = whystop::ParseCommandLine(argc, argv);
    return line.options ? std::visit(whystop::Dispatch{}, *line.options) : line.exit_code;
  } catch (const std::exception& fault) {
    whystop::Complain(std::string("internal error: ") + fault.what());
    return whystop::kExitUsage;
  }
}
