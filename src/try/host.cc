#include "try/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "record/recording_folder.h"
#include "try/layer.h"
#include "try/read_trial.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
constexpr int kHostFailed = 125;
constexpr int kLookMs = 50;
constexpr std::chrono::seconds kToldGrace{3};  // For the recording to come to its end.

/// Why a trial could not begin is told in its folder.
[[noreturn]] void GiveUp(const std::string& folder, const Error& error) {
  if (auto file = OpenFd(folder + "/" + kFaultFile, O_WRONLY | O_CREAT | O_TRUNC)) {
    WriteAll(file->get(), error.what);
  }
  ::_exit(kHostFailed);
}

void Quieten() {
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(nothing.get(), fd);
  }
}

/// Trackers stay at home; a program that is compiled takes longer to start than a trial lasts.
const std::map<std::string, std::string>& TrialEnvironment() {
  static const std::map<std::string, std::string> kSet = {
      {"WANDB_MODE", "offline"},
      {"WANDB_SILENT", "true"},
      {"COMET_START_MODE", "offline"},
      {"NEPTUNE_MODE", "offline"},
      {"CLEARML_OFFLINE_MODE", "1"},
      {"MLFLOW_TRACKING_URI", "file:///tmp/whystop-mlruns"},
      {"HF_HUB_DISABLE_TELEMETRY", "1"},
      {"TORCH_COMPILE_DISABLE", "1"},
      {"MPLBACKEND", "Agg"}};
  return kSet;
}

[[noreturn]] void Exec(const Bench& bench, const std::string& spec, const TrialState& state,
                       const std::string& folder) {
  for (const auto& [name, value] : TrialEnvironment()) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  if (!bench.network && !bench.in_place) {
    ::setenv("HF_HUB_OFFLINE", "1", 1);
  }
  for (const auto& [name, value] : bench.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  const std::string asked = fmt::format("{} steps={}", spec, bench.steps_max);
  ::setenv("WHYSTOP_TRIAL", asked.c_str(), 1);
  ::setenv("WHYSTOP_TRIAL_STATE", state.begun_with.c_str(), 1);  // Apart: paths may hold blanks.
  ::setenv("WHYSTOP_TRIAL_LEAVES", state.left.c_str(), 1);
  ::setenv("WHYSTOP_TRIAL_TOLD", (folder + "/" + kToldFile).c_str(), 1);
  std::vector<std::string> words = {bench.whystop, "run", "--quiet", "--dir", folder, "--"};
  words.insert(words.end(), bench.wrapper.begin(), bench.wrapper.end());
  words.insert(words.end(), bench.command.begin(), bench.command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ::execv(bench.whystop.c_str(), arguments.data());
  GiveUp(folder, SystemError("start " + bench.whystop, errno));
}

/// Until the trial has ended, or has told all and something goes on after it: the next line of a
/// shell script, a program that is not ended by the end of its training.
[[noreturn]] void WaitFor(pid_t trial, const std::string& told_file) {
  std::optional<std::chrono::nanoseconds> told;
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == trial) {
      ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    if (ended < 0 && errno != EINTR) {
      ::_exit(kHostFailed);
    }
    if (ended != 0) {
      continue;
    }
    ::poll(nullptr, 0, kLookMs);
    if (!told && ::access(told_file.c_str(), F_OK) == 0) {
      told = MonotonicNow();
    }
    if (told && MonotonicNow() - *told > kToldGrace) {
      ::_exit(0);
    }
  }
}

/// The first process of the trial's own process namespace: when it ends, all others are ended.
[[noreturn]] void BeFirst(const Bench& bench, const std::string& spec, const TrialState& state,
                          const std::string& folder) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Status made =
      MakeLayer({.shared = {folder}, .bytes_max = bench.layer_bytes_max, .network = bench.network});
  if (!made) {
    GiveUp(folder, made.error());
  }
  const pid_t trial = ::fork();
  if (trial == 0) {
    Exec(bench, spec, state, folder);
  }
  WaitFor(trial, folder + "/" + kToldFile);
}

[[noreturn]] void BeHost(const Bench& bench, const std::string& spec, const TrialState& state,
                         const std::string& folder, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kHostFailed);
  }
  if (bench.handed >= 0) {
    ::dup2(bench.handed, kHandedFd);
  }
  ::setpgid(0, 0);  // Ctrl-C is for whystop alone: it ends the trials itself.
  Quieten();
  if (::chdir(bench.directory.c_str()) != 0) {
    GiveUp(folder, SystemError("enter " + bench.directory, errno));
  }
  if (bench.in_place) {
    Exec(bench, spec, state, folder);
  }
  if (const Status entered = EnterNamespaces(bench.network); !entered) {
    GiveUp(folder, entered.error());
  }
  const pid_t first = ::fork();
  if (first == 0) {
    BeFirst(bench, spec, state, folder);
  }
  int status = 0;
  while (::waitpid(first, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

Result<pid_t> StartTrial(const Bench& bench, const std::string& spec, const TrialState& state,
                         const std::string& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  ::chmod(folder.c_str(), 0700);
  auto file = OpenFd(folder + "/" + kSpecFile, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) {
    return file.error();
  }
  WriteAll(file->get(), spec + "\n");
  const pid_t parent = ::getpid();
  const pid_t host = ::fork();
  if (host < 0) {
    return SystemError("fork", errno);
  }
  if (host == 0) {
    BeHost(bench, spec, state, folder, parent);
  }
  return host;
}

}  // namespace whystop
