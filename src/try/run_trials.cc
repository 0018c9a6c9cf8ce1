#include "try/run_trials.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "record/recording_folder.h"
#include "try/read_trial.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
constexpr int kLookMs = 100;

struct Running {
  pid_t host = 0;
  std::string spec;
  std::string folder;
  nanoseconds begun{};
};

/// "lr-times=0.1" -> "03-lr-times-0.1": a folder name that sorts in the order of the trials.
std::string FolderOf(const std::string& folder, std::size_t number, const std::string& spec) {
  std::string name = spec.substr(0, 60);
  for (char& letter : name) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                       letter == '.' || letter == '-';
    letter = plain ? letter : '-';
  }
  return fmt::format("{}/{:02}-{}", folder, number, name);
}

std::size_t NextNumber(const std::string& folder) {
  std::error_code fault;
  std::size_t number = 0;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    number += entry.is_directory(fault) ? 1 : 0;
  }
  return number;
}

bool GoesOn(const std::string& spec) { return spec.starts_with("continue"); }

/// The files with what was learned: the untouched trial leaves one, and so does each that goes on
/// from the one before it.
TrialState StateFor(const std::string& spec, const std::string& folder,
                    const std::vector<Trial>& done) {
  TrialState state;
  if (spec == kAsIs || GoesOn(spec)) {
    state.left = folder + "/" + kStateFile;
  }
  for (const Trial& trial : done) {
    if (GoesOn(spec) && (trial.spec == kAsIs || GoesOn(trial.spec))) {
      state.begun_with = trial.recording + "/" + kStateFile;
    }
  }
  return state;
}

/// Trials that an earlier call could not finish, or that did not come to a step in it, are made anew: there may be more time now, or a port.
std::vector<Trial> WholeTrials(const std::string& run_directory) {
  std::vector<Trial> trials = ReadTrials(run_directory);
  std::erase_if(trials, [](const Trial& trial) {
    std::error_code fault;
    return (!trial.ended || !trial.begun) && fs::remove_all(trial.recording, fault) > 0;
  });
  return trials;
}

/// Ends trials that nobody waits for any more; nothing is left of them.
void EndAll(std::vector<Running>& running) {
  for (const Running& one : running) {
    ::kill(one.host, SIGKILL);
    int status = 0;
    ::waitpid(one.host, &status, 0);
    std::error_code fault;
    fs::remove_all(one.folder, fault);
  }
  running.clear();
}

}  // namespace

TryOutcome RunTrials(const Bench& bench, const TryLimits& limits, const std::string& folder,
                     const Planner& plan, const std::function<bool()>& stop,
                     const std::function<void(const TryProgress&)>& show) {
  TryOutcome outcome;
  std::error_code fault;
  fs::create_directories(folder, fault);
  const nanoseconds deadline = MonotonicNow() + limits.budget;
  std::vector<Trial> done = WholeTrials(fs::path(folder).parent_path().string());
  std::vector<Running> running;
  std::size_t number = NextNumber(folder);
  const auto specs = [&running] {
    std::vector<std::string> names;
    for (const Running& one : running) {
      names.push_back(one.spec);
    }
    return names;
  };
  bool more = true;
  std::size_t looked = 0;
  while (true) {
    outcome.interrupted = stop();
    const nanoseconds now = MonotonicNow();
    const bool over = outcome.interrupted || now >= deadline || !outcome.fault.empty();
    if (!over && looked != done.size()) {
      looked = done.size();
      if (plan(done, {}).empty()) {  // Nothing that is under way could change the answer.
        EndAll(running);
      }
    }
    if (!over && more && running.size() < static_cast<std::size_t>(limits.side_by_side)) {
      const auto wanted = plan(done, specs());
      if (!wanted.empty()) {
        const std::string path = FolderOf(folder, number++, wanted.front());
        auto host = StartTrial(bench, wanted.front(), StateFor(wanted.front(), path, done), path);
        if (!host) {
          outcome.fault = host.error().what;
          continue;
        }
        running.push_back({*host, wanted.front(), path, now});
        continue;
      }
      more = !running.empty();  // What is under way may raise a new question.
    }
    if (running.empty()) {
      outcome.out_of_time = over && !plan(done, {}).empty();
      return outcome;
    }
    show({specs(), done.size(), std::max(nanoseconds(0), deadline - now)});
    ::poll(nullptr, 0, kLookMs);
    for (auto one = running.begin(); one != running.end();) {
      const bool late = over || now - one->begun > limits.trial_max;
      if (late) {
        ::kill(one->host, SIGKILL);
      }
      int status = 0;
      if (::waitpid(one->host, &status, late ? 0 : WNOHANG) != one->host) {
        ++one;
        continue;
      }
      Trial trial = ReadTrial(one->folder);
      trial.spec = one->spec;
      if (const auto text = ReadFile(one->folder + "/" + kFaultFile, 4096); text && !text->empty()) {
        outcome.fault = *text;
      }
      done.push_back(std::move(trial));
      one = running.erase(one);
      more = true;
    }
  }
}

}  // namespace whystop
