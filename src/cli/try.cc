#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "base/human.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/progress_line.h"
#include "cli/rerun.h"
#include "cli/verdict_of.h"
#include "record/recording_folder.h"
#include "report/json_report.h"
#include "report/terminal_report.h"
#include "try/interventions.h"
#include "try/read_trial.h"
#include "try/run_trials.h"
#include "try/source_fix.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t kStepsMax = 1500;
constexpr std::int64_t kStepsMin = 60;
constexpr std::int64_t kTellingSteps = 200;  // Fewer of a longer run would tell too little.
constexpr int kTrialsInBudget = 12;          // Steps of one trial take no more of the budget than that.

int SideBySide(const TryOptions& options, const Recorded& run) {
  if (options.jobs > 0) {
    return options.jobs;
  }
  if (run.cuda || options.in_place || options.network) {
    return 1;  // One device, one folder, one port: they would be in each other's way.
  }
  const auto cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const std::int64_t each = std::max<std::int64_t>(run.rss_bytes_max, 256 << 20);
  const auto fit = static_cast<int>(std::clamp<std::int64_t>(AvailableBytes() / (2 * each), 1, 64));
  return std::min({cores, fit, 8});
}

std::string InWords(const TryProgress& progress) {
  std::string names;
  for (const std::string& spec : progress.running) {
    names += (names.empty() ? "" : "; ") + ChangeInWords(spec);
  }
  return fmt::format("{} done; trying: {}", progress.done, names);
}

std::int64_t StepsOf(const TryOptions& options, const Recorded& run, nanoseconds budget) {
  if (options.steps > 0) {
    return options.steps;
  }
  std::int64_t wanted = run.steps > 0 ? std::min(run.steps, kStepsMax) : kStepsMax;
  if (run.steps > 1 && run.first_step && *run.last_step > *run.first_step) {
    const double step = static_cast<double>((*run.last_step - *run.first_step).count()) /
                        static_cast<double>(run.steps - 1);
    const auto fit = static_cast<std::int64_t>(static_cast<double>(budget.count()) / kTrialsInBudget / step);
    wanted = std::min(wanted, std::max(fit, kTellingSteps));
  }
  return options.fix.empty() ? std::max(wanted, kStepsMin) : wanted;
}

void ForgetStates(const std::string& folder) {
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    fs::remove(entry.path() / kStateFile, fault);
  }
}

/// Whole or not at all: a source that was half written would be worse than the fault.
Status Replace(const SourceFix& fix) {
  std::error_code fault;
  const std::string target = fs::canonical(fix.file, fault).string();
  const auto now = ReadFile(target, std::size_t{64} << 20);
  if (!now || *now != fix.before) {
    return Error{Error::Code::kBusy, fix.file + " has just changed", ""};
  }
  const std::string fresh = target + ".whystop";
  auto file = OpenFd(fresh, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) {
    return file.error();
  }
  fs::permissions(fresh, fs::status(target, fault).permissions(), fault);
  const int unwritten = WriteAll(file->get(), fix.after);
  if (unwritten != 0 || ::rename(fresh.c_str(), target.c_str()) != 0) {
    const Error error = SystemError("write " + target, unwritten != 0 ? unwritten : errno);
    ::unlink(fresh.c_str());
    return error;
  }
  return Ok{};
}

/// The proven fix in the user's own source: shown, and written only when asked for.
void OfferFix(const Conclusions& found, const std::vector<Trial>& trials,
              const TryOptions& options) {
  const auto with = [&trials](const std::string& spec) {
    return std::find_if(trials.begin(), trials.end(),
                        [&spec](const Trial& trial) { return trial.spec == spec; });
  };
  if (!found.proof) {
    Complain(found.summary);
  }
  std::optional<SourceFix> fix;
  if (found.proof && with(kAsIs) != trials.end() && with(found.proof->spec) != trials.end()) {
    fix = FindSourceFix(*found.proof, *with(kAsIs), *with(found.proof->spec));
  }
  if (!fix) {
    if (options.apply) {
      Complain(found.proof ? "nothing applied: the line that has to change is not known for sure"
                           : "nothing applied: no cause was proven");
    }
    return;
  }
  if (!options.json) {
    PrintShown("\n" + fix->diff);
  } else if (options.apply) {
    Complain("the change:\n" + fix->diff);
  }
  if (options.apply) {
    const Status written = Replace(*fix);
    Complain(written ? "applied to " + fix->file : "nothing applied: " + written.error().what);
  }
}

void TellEnd(const TryOutcome& outcome) {
  if (!outcome.fault.empty()) {
    Complain("a trial could not begin: " + outcome.fault);
  } else if (outcome.interrupted) {
    Complain("interrupted; this is what is known so far");
  } else if (outcome.out_of_time) {
    Complain("time is up; there was more to try", "whystop try --budget 10m goes on from here");
  }
}

/// The verdict as it is now, with the trials.
int Answer(const TryCase& asked, const std::string& directory, const TryOptions& options) {
  Verdict verdict;
  if (const Status judged = JudgeRecording(directory, verdict); !judged) {
    Complain(judged.error());
    return kExitUsage;
  }
  Print(options.json ? RenderJson(verdict) : RenderTerminal(verdict, StyleFor(STDOUT_FILENO)));
  const std::vector<Trial> trials = ReadTrials(directory);
  OfferFix(Conclude(asked, trials), trials, options);
  return ExitCodeOf(verdict);
}

}  // namespace

int Try(const TryOptions& options) {
  const auto rerun = PrepareRerun(options);
  if (!rerun) {
    Complain(rerun.error());
    return kExitUsage;
  }
  const std::string& directory = rerun->directory;
  const std::string folder = directory + "/" + kTrialsFolder;
  if (options.again) {
    std::error_code fault;
    fs::remove_all(folder, fault);
  }
  Verdict verdict;
  if (const Status judged = JudgeByWatching(directory, verdict); !judged) {
    Complain(judged.error());
    return kExitUsage;
  }
  const int jobs = SideBySide(options, rerun->run);
  Bench bench = BenchFor(*rerun, options, jobs);
  bench.steps_max = StepsOf(options, rerun->run, rerun->budget);
  const TryCase asked = CaseOf(verdict);
  const TryLimits limits{
      .budget = rerun->budget, .trial_max = rerun->budget * 2 / 3, .side_by_side = jobs};
  const Planner plan = [&](const std::vector<Trial>& done,
                           const std::vector<std::string>& running) {
    auto wanted = NextTrials(asked, done, running);
    if (!options.fix.empty()) {
      std::erase_if(wanted, [](const std::string& spec) { return spec != kAsIs; });
      const auto known = [&](const Trial& trial) { return trial.spec == options.fix; };
      if (std::none_of(done.begin(), done.end(), known) &&
          std::find(running.begin(), running.end(), options.fix) == running.end()) {
        wanted.push_back(options.fix);
      }
    }
    return wanted;
  };
  NoteInterrupts();
  ProgressLine display(options.json);
  const TryOutcome outcome =
      RunTrials(bench, limits, folder, plan, &Interrupted, [&display](const TryProgress& progress) {
        display.Show(InWords(progress),
                     HumanDuration(std::chrono::duration_cast<seconds>(progress.left)));
      });
  display.Clear();
  ForgetStates(folder);
  TellEnd(outcome);
  return Answer(asked, directory, options);
}

}  // namespace whystop
