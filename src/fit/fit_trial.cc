#include "fit/fit_trial.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "fit/memory_group.h"
#include "record/recording_folder.h"
#include "sense/process_parse.h"
#include "try/read_trial.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
constexpr int kLookMs = 50;
constexpr std::size_t kProcessesMax = 4096;

/// A shell that puts itself under the limit and becomes the program.
std::vector<std::string> WrapperFor(const std::optional<MemoryGroup>& group,
                                    std::int64_t limit_bytes) {
  if (group) {
    return {"/bin/sh", "-c", fmt::format(R"(echo 0 >&{0} && exec "$@" {0}>&-)", kHandedFd), "sh"};
  }
  return {"/bin/sh", "-c", R"(ulimit -d "$0" && exec "$@")", std::to_string(limit_bytes >> 10)};
}

/// Waits for the end of the trial; the highest PSS of its tree, where nobody else counts.
Result<std::int64_t> Follow(const FitBench& bench, pid_t host, bool counts, int& status) {
  std::int64_t peak = 0;
  while (::waitpid(host, &status, WNOHANG) != host) {
    const bool late = MonotonicNow() >= bench.deadline;
    if (late || bench.stop()) {
      ::kill(host, SIGKILL);
      ::waitpid(host, &status, 0);
      return Error{Error::Code::kBusy, late ? "time is up" : "interrupted", ""};
    }
    peak = counts ? std::max(peak, TreePssBytes(host)) : 0;
    ::poll(nullptr, 0, kLookMs);
  }
  return peak;
}

bool SpeaksOfMemory(const std::string& text) {
  for (const char* words :
       {"MemoryError", "can't allocate memory", "out of memory", "OutOfMemory", "bad_alloc",
        "Cannot allocate memory", "Unable to allocate", "can't start new thread"}) {
    if (text.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::int64_t Seen(const Trial& trial, const char* name) {
  return static_cast<std::int64_t>(trial.Seen(name));
}

FitTrial Understand(const Trial& trial, std::int64_t batch, int status, std::int64_t kills) {
  FitTrial out;
  out.spec = trial.spec;
  out.own_batch = Seen(trial, "own_batch");
  out.batch = batch > 0 ? batch : out.own_batch;
  out.samples = Seen(trial, "samples");
  out.start_bytes = Seen(trial, "start_bytes");
  out.process_peak_bytes = Seen(trial, "peak_bytes");
  out.model_bytes = Seen(trial, "model_bytes");
  out.gradient_bytes = Seen(trial, "gradient_bytes");
  out.optimizer_bytes = Seen(trial, "optimizer_bytes");
  out.device_peak_bytes = Seen(trial, "device_peak_bytes");
  out.device_total_bytes = Seen(trial, "device_total_bytes");
  out.by_loader = trial.Seen("by_loader") > 0;
  out.changed = trial.applied > 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const bool killed = code == 128 + SIGKILL || code == 128 + SIGBUS || code == 128 + SIGABRT ||
                      code == 128 + SIGSEGV;
  if (code == 0 && kills == 0 && trial.Seen("steps") > 0) {
    out.end = FitTrial::End::kFits;
  } else if (kills > 0 || killed || SpeaksOfMemory(trial.raised)) {
    out.end = FitTrial::End::kTooMuch;
    out.said = trial.raised.empty() ? "killed at the limit" : trial.raised;
  } else {
    out.said = !trial.raised.empty() ? trial.raised
               : code == 0
                   ? "it ended before its first training step"
                   : fmt::format("it ended with status {} before its first training step", code);
  }
  return out;
}

}  // namespace

std::int64_t TreePssBytes(pid_t root) {
  std::vector<pid_t> pids = {root};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < pids.size() && i < kProcessesMax; ++i) {
    const std::string folder = fmt::format("/proc/{}", pids[i]);
    if (const auto text = ReadFile(folder + "/smaps_rollup")) {
      sum += ParsePssBytes(*text).value_or(0);
    }
    std::error_code fault;
    for (const auto& task : fs::directory_iterator(folder + "/task", fault)) {
      if (const auto children = ReadFile(task.path().string() + "/children")) {
        ParseChildren(*children, pids);
      }
    }
  }
  return sum;
}

Result<FitTrial> RunFitTrial(const FitBench& bench, const std::string& spec, std::int64_t batch,
                             std::int64_t limit_bytes) {
  std::optional<MemoryGroup> group;
  if (auto made = MemoryGroup::Make(limit_bytes)) {
    group.emplace(std::move(*made));
  }
  Bench limited = bench.bench;
  limited.wrapper = WrapperFor(group, limit_bytes);
  limited.handed = group ? group->door() : -1;
  std::string name = spec;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '='; }, '-');
  const std::string folder = bench.folder + "/" + name;
  const auto host = StartTrial(limited, spec, {}, folder);
  if (!host) {
    return host.error();
  }
  int status = 0;
  const auto pss = Follow(bench, *host, !group, status);
  if (!pss) {
    return pss.error();
  }
  if (const auto fault = ReadFile(folder + "/" + kFaultFile); fault && !fault->empty()) {
    return Error{Error::Code::kIo, "a trial could not begin: " + *fault, ""};
  }
  FitTrial trial = Understand(ReadTrial(folder), batch, status, group ? group->Kills() : 0);
  const auto peak = group ? group->PeakBytes() : std::nullopt;
  // The group's page cache shrinks as the limit nears, so that its peak alone may say too little.
  const std::int64_t host_bytes = std::max(peak.value_or(*pss), trial.process_peak_bytes);
  trial.peak_bytes = trial.device_peak_bytes > 0 ? trial.device_peak_bytes : host_bytes;
  return trial;
}

}  // namespace whystop
