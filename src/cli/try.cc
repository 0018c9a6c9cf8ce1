#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "base/human.h"
#include "base/human_parse.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "record/recording_folder.h"
#include "report/json_report.h"
#include "report/terminal_report.h"
#include "stream/recording_stream.h"
#include "try/interventions.h"
#include "try/layer.h"
#include "try/read_trial.h"
#include "try/run_trials.h"
#include "try/source_fix.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t kStepsMax = 1500;
constexpr std::int64_t kLayerBytesMax = std::int64_t{4} << 30;

volatile sig_atomic_t interrupted = 0;
void OnInterrupt(int) { interrupted = 1; }

/// What the recorded run tells about how to run it again.
struct Recorded final : EventSink {
  RunStart start;
  bool started = false;
  bool alive = false;
  std::optional<RunTime> first_step;
  std::int64_t steps = 0;
  std::int64_t rss_bytes_max = 0;
  bool cuda = false;

  void Push(const Event& event) override {
    if (const auto* begun = event.As<RunStart>()) {
      start = *begun;
      started = true;
    } else if (const auto* scalar = event.As<Scalar>(); scalar && scalar->step) {
      first_step = first_step.value_or(event.at);
      steps = std::max(steps, *scalar->step);
    } else if (const auto* ended = event.As<ProcessEnd>(); ended && ended->rss_bytes_max) {
      rss_bytes_max = std::max(rss_bytes_max, *ended->rss_bytes_max);
    } else if (const auto* seen = event.As<Observation>(); seen && seen->kind == "model") {
      const std::string* devices = seen->Text("devices");
      cuda = cuda || (devices != nullptr && devices->find("cuda") != std::string::npos);
    }
  }
};

Result<Recorded> ReadRecorded(const std::string& directory) {
  Recorded run;
  auto stream = RecordingStream::Open(directory, run);
  if (!stream) {
    return stream.error();
  }
  (*stream)->Finish();
  run.alive = !(*stream)->saw_end() && JobIsAlive(directory, run.start.pid);
  if (!run.started) {
    return Error{Error::Code::kUsage, directory + " does not say how the run was started",
                 "record it with 'whystop run -- COMMAND'"};
  }
  return run;
}

/// The program's file, where the command names one that can be seen.
std::string SourceOf(const std::vector<std::string>& command, const std::string& directory) {
  std::error_code fault;
  for (const std::string& word : command) {
    const fs::path path = fs::path(directory) / word;
    if (path.extension() == ".py" && fs::is_regular_file(path, fault)) {
      return path.string();
    }
  }
  return "";
}

void TellWhatChanged(const Recorded& run, const std::vector<std::string>& command) {
  const std::string source = SourceOf(command, run.start.directory);
  struct stat status{};
  if (!source.empty() && ::stat(source.c_str(), &status) == 0 &&
      seconds(status.st_mtim.tv_sec) > std::chrono::duration_cast<seconds>(run.start.wall)) {
    Complain(LastPart(source) + " has changed since the run was recorded",
             "the trials run it as it is now");
  }
}

Status CheckCommand(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (word.find("***") != std::string::npos) {
      return Error{Error::Code::kUsage,
                   "the command line held a secret, which is not in the recording",
                   "give the command again: whystop try RUN -- COMMAND"};
    }
  }
  const std::string program = command.empty() ? "" : LastPart(command.front());
  if (program == "torchrun" || program == "accelerate" || program == "srun" ||
      program == "deepspeed") {
    return Error{Error::Code::kUsage,
                 "a trial is one process; this run was started by " + program,
                 "give the single-process command: whystop try RUN -- python train.py"};
  }
  return Ok{};
}

std::int64_t AvailableBytes() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0
             ? static_cast<std::int64_t>(info.freeram + info.bufferram) * info.mem_unit
             : 0;
}

int SideBySide(const TryOptions& options, const Recorded& run) {
  if (options.jobs > 0) {
    return options.jobs;
  }
  if (run.cuda) {
    return 1;
  }
  const auto cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const std::int64_t each = std::max<std::int64_t>(run.rss_bytes_max, 256 << 20);
  const auto fit = static_cast<int>(std::clamp<std::int64_t>(AvailableBytes() / (2 * each), 1, 64));
  return std::min({cores, fit, 8});
}

/// One line that is written over, on a terminal; else a line a trial.
class Display {
 public:
  explicit Display(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}
  void Show(const TryProgress& progress) {
    std::string names;
    for (const std::string& spec : progress.running) {
      names += (names.empty() ? "" : "; ") + ChangeInWords(spec);
    }
    const std::string line =
        fmt::format("whystop: {} done; trying: {}; {} left", progress.done, names,
                    HumanDuration(std::chrono::duration_cast<seconds>(progress.left)));
    if (quiet_ || (!terminal_ && names == names_)) {
      return;
    }
    names_ = names;
    const std::string text = terminal_ ? fmt::format("\r\x1b[K{:.150}", line) : line + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }
  void Clear() const {
    if (terminal_ && !quiet_ && !names_.empty()) {
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, "\r\x1b[K", 4);
    }
  }

 private:
  bool quiet_;
  bool terminal_;
  std::string names_;
};

Bench BenchOf(const TryOptions& options, const Recorded& run, int jobs) {
  Bench bench;
  std::error_code fault;
  bench.whystop = fs::read_symlink("/proc/self/exe", fault).string();
  bench.command = options.command.empty() ? run.start.command : options.command;
  bench.directory = run.start.directory;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                           "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const auto found = run.start.environment.find(name);
        found != run.start.environment.end()) {
      bench.environment[name] = found->second;
    }
  }
  const auto cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  bench.environment.emplace("OMP_NUM_THREADS", std::to_string(std::max(1, cores / jobs)));
  const std::int64_t wanted = run.steps > 0 ? std::min(run.steps, kStepsMax) : kStepsMax;
  bench.steps_max = options.steps > 0 ? options.steps : wanted;
  if (options.fix.empty() && !options.steps) {
    bench.steps_max = std::max<std::int64_t>(bench.steps_max, 60);
  }
  bench.layer_bytes_max = std::clamp<std::int64_t>(AvailableBytes() / (4 * jobs), 64 << 20, kLayerBytesMax);
  bench.in_place = options.in_place;
  bench.network = options.network;
  return bench;
}

void ForgetStates(const std::string& folder) {
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    fs::remove(entry.path() / kStateFile, fault);
  }
}

/// The proven fix in the user's own source: shown, and written only when asked for.
void OfferFix(const TryCase& asked, const std::string& directory, const TryOptions& options) {
  const std::vector<Trial> trials = ReadTrials(directory);
  const Conclusions found = Conclude(asked, trials);
  const auto with = [&trials](const std::string& spec) {
    return std::find_if(trials.begin(), trials.end(),
                        [&spec](const Trial& trial) { return trial.spec == spec; });
  };
  if (!found.proof || with(kAsIs) == trials.end() || with(found.proof->spec) == trials.end()) {
    return;
  }
  const auto fix = FindSourceFix(*found.proof, *with(kAsIs), *with(found.proof->spec));
  if (!fix) {
    if (options.apply) {
      Complain("nothing applied: the line that has to change is not known for sure");
    }
    return;
  }
  if (!options.json) {
    Print("\n" + fix->diff);
  }
  if (!options.apply) {
    return;
  }
  const auto now = ReadFile(fix->file, std::size_t{64} << 20);
  auto file = OpenFd(fix->file, O_WRONLY | O_CLOEXEC);
  if (!now || *now != fix->before || !file) {
    Complain("nothing applied: " + fix->file + " cannot be written, or has just changed");
    return;
  }
  const bool written = ::ftruncate(file->get(), 0) == 0 && WriteAll(file->get(), fix->after) == 0;
  Complain(written ? "applied to " + fix->file : "could not write all of " + fix->file);
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
  Print(options.json ? RenderJson(verdict)
                     : RenderTerminal(verdict, StyleFor(STDOUT_FILENO)));
  OfferFix(asked, directory, options);
  return ExitCodeOf(verdict);
}

Status Prepare(const TryOptions& options, const Recorded& run, nanoseconds budget) {
  WS_RETURN_IF_ERROR(CheckCommand(options.command.empty() ? run.start.command : options.command));
  if (run.alive && !options.beside) {
    return Error{Error::Code::kBusy, "the run is still alive",
                 "wait for its end, or let trials run beside it: --beside"};
  }
  std::error_code fault;
  if (!fs::is_directory(run.start.directory, fault)) {
    return Error{Error::Code::kNotFound,
                 "the folder where the run was started is gone: " + run.start.directory, ""};
  }
  if (run.first_step && 4 * *run.first_step > budget) {
    return Error{Error::Code::kUsage,
                 fmt::format("the run took {} to its first step: too long for a budget of {}",
                             HumanDuration(*run.first_step), HumanDuration(budget)),
                 "give more time: --budget 2h"};
  }
  if (!options.in_place) {
    if (const Status works = LayerWorks(); !works) {
      return Error{Error::Code::kNoPermission,
                   "your files cannot be protected from what the program writes: " +
                       works.error().what,
                   "on a copy of the project, run it unprotected: --in-place"};
    }
  }
  return Ok{};
}

}  // namespace

int Try(const TryOptions& options) {
  const auto budget = ParseDuration(options.budget);
  if (!budget) {
    Complain("--budget " + options.budget + " is no time", "for example 180s, 5m");
    return kExitUsage;
  }
  const auto found = FindRecording(options.path);
  if (!found) {
    Complain(found.error());
    return kExitUsage;
  }
  if (!*found) {
    Complain(options.path.empty() ? "no recording yet" : "no recording '" + options.path + "'",
             "record a run first: whystop run -- python train.py");
    return kExitUsage;
  }
  std::error_code fault;
  const std::string directory = fs::absolute(**found, fault).lexically_normal().string();
  const auto run = ReadRecorded(directory);
  if (!run) {
    Complain(run.error());
    return kExitUsage;
  }
  if (const Status ready = Prepare(options, *run, *budget); !ready) {
    Complain(ready.error());
    return kExitUsage;
  }
  const std::string folder = directory + "/" + kTrialsFolder;
  if (options.again) {
    fs::remove_all(folder, fault);
  }
  Verdict verdict;
  if (const Status judged = JudgeByWatching(directory, verdict); !judged) {
    Complain(judged.error());
    return kExitUsage;
  }
  TellWhatChanged(*run, options.command.empty() ? run->start.command : options.command);
  const int jobs = SideBySide(options, *run);
  const Bench bench = BenchOf(options, *run, jobs);
  const TryCase asked = CaseOf(verdict);
  const TryLimits limits{.budget = *budget, .trial_max = *budget * 2 / 3, .side_by_side = jobs};
  const Planner plan = [&](const std::vector<Trial>& done, const std::vector<std::string>& running) {
    auto wanted = NextTrials(asked, done, running);
    if (!options.fix.empty() || asked.learns_by_watching) {
      std::erase_if(wanted, [](const std::string& spec) { return spec != kAsIs; });
      const auto known = [&](const Trial& trial) { return trial.spec == options.fix; };
      if (!options.fix.empty() && std::none_of(done.begin(), done.end(), known) &&
          std::find(running.begin(), running.end(), options.fix) == running.end()) {
        wanted.push_back(options.fix);
      }
    }
    return wanted;
  };
  struct sigaction action{};
  action.sa_handler = &OnInterrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  Display display(options.json);
  const TryOutcome outcome =
      RunTrials(bench, limits, folder, plan, [] { return interrupted != 0; },
                [&display](const TryProgress& progress) { display.Show(progress); });
  display.Clear();
  ForgetStates(folder);
  TellEnd(outcome);
  return Answer(asked, directory, options);
}

}  // namespace whystop
