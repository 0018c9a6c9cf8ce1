#include "cli/watch_hangs.h"

#include <cmath>
#include <vector>

#include "cli/commands.h"
#include "watch/watcher.h"

namespace whystop {
namespace {

constexpr int kPatienceMs = 3000;

std::vector<std::string> ArgumentsFor(const std::string& directory, const RunOptions& options,
                                      const RecordingOptions& shares) {
  std::vector<std::string> arguments = {"wswatcher", "watch-hangs", "--dir", directory, "--on-hang",
                                        options.on_hang,
                                        "--late-bytes", std::to_string(shares.late_bytes),
                                        "--middle-bytes", std::to_string(shares.middle_bytes)};
  if (options.hang_after_s > 0) {
    arguments.insert(arguments.end(), {"--hang-after", std::to_string(options.hang_after_s)});
  }
  if (options.quiet) {
    arguments.emplace_back("--quiet");
  }
  return arguments;
}

}  // namespace

HangWatcher::HangWatcher(const std::string& directory, const RunOptions& options,
                         const RecordingOptions& shares)
    : process_(ArgumentsFor(directory, options, shares)) {}

bool HangWatcher::Finish() {
  const auto status = process_.EndsWithin(kPatienceMs);
  if (!status) {
    process_.Kill();
  }
  return status == kStoppedTheJob;
}

int WatchHangs(const WatchHangsOptions& options) {
  WatchOptions watch;
  watch.directory = options.directory;
  if (options.hang_after_s > 0) {
    watch.hang_after = std::chrono::nanoseconds(std::llround(options.hang_after_s * 1e9));
  }
  watch.on_hang = options.on_hang == "stop"      ? OnHang::kStop
                  : options.on_hang == "restart" ? OnHang::kRestart
                                                 : OnHang::kReport;
  watch.late_bytes = options.late_bytes;
  watch.middle_bytes = options.middle_bytes;
  watch.tell = options.quiet ? -1 : ProcessBeside::kTellFd;
  const auto status = WatchForHangs(watch);
  return status ? *status : kExitUsage;
}

}  // namespace whystop
