#include "cli/rerun.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/human.h"
#include "base/human_parse.h"
#include "base/parse.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "stream/recording_stream.h"
#include "try/layer.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t kLayerBytesMax = std::int64_t{4} << 30;
constexpr std::int64_t kLayerBytesMin = std::int64_t{64} << 20;
constexpr int kFirstStepsInBudget = 4;  // Fewer trials than that tell nothing apart.

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
  struct stat status {};
  if (!source.empty() && ::stat(source.c_str(), &status) == 0 &&
      seconds(status.st_mtim.tv_sec) > std::chrono::duration_cast<seconds>(run.start.wall)) {
    Complain(LastPart(source) + " has changed since the run was recorded",
             "the trials run it as it is now");
  }
}

/// Programs that start several processes of one training.
std::string LauncherIn(const std::vector<std::string>& command) {
  if (command.empty()) {
    return "";
  }
  for (const char* name :
       {"torchrun", "accelerate", "srun", "deepspeed", "mpirun", "mpiexec", "horovodrun"}) {
    if (LastPart(command.front()) == name || (command.size() > 1 && LastPart(command[1]) == name)) {
      return name;
    }
  }
  for (std::size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == "-m" && (command[i + 1].starts_with("torch.distributed") ||
                               command[i + 1].starts_with("accelerate"))) {
      return command[i + 1];
    }
  }
  return "";
}

Status CheckCommand(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (word.find("***") != std::string::npos) {
      return Error{Error::Code::kUsage,
                   "the command line held a secret, which is not in the recording",
                   "give the command again: whystop try RUN -- COMMAND"};
    }
  }
  if (const std::string launcher = LauncherIn(command); !launcher.empty()) {
    return Error{Error::Code::kUsage, "a trial is one process; this run was started by " + launcher,
                 "give the single-process command: whystop try RUN -- python train.py"};
  }
  return Ok{};
}

Status CheckSurroundings(const RerunOptions& options, const Rerun& rerun) {
  WS_RETURN_IF_ERROR(CheckCommand(rerun.command));
  const Recorded& run = rerun.run;
  if (run.alive && !options.beside) {
    return Error{Error::Code::kBusy, "the run is still alive",
                 "wait for its end, or let trials run beside it: --beside"};
  }
  std::error_code fault;
  if (!fs::is_directory(run.start.directory, fault)) {
    return Error{Error::Code::kNotFound,
                 "the folder where the run was started is gone: " + run.start.directory, ""};
  }
  if (run.first_step && kFirstStepsInBudget * *run.first_step > rerun.budget) {
    return Error{Error::Code::kUsage,
                 fmt::format("the run took {} to its first step: too long for a budget of {}",
                             HumanDuration(*run.first_step), HumanDuration(rerun.budget)),
                 "give more time: --budget 2h"};
  }
  if (!options.in_place) {
    if (const Status works = LayerWorks(); !works) {
      return Error{
          Error::Code::kNoPermission,
          "your files cannot be protected from what the program writes: " + works.error().what,
          "on a copy of the project, run it unprotected: --in-place"};
    }
  }
  return Ok{};
}

}  // namespace

void Recorded::Push(const Event& event) {
  if (const auto* begun = event.As<RunStart>()) {
    start = *begun;
    started = true;
  } else if (const auto* scalar = event.As<Scalar>(); scalar && scalar->step) {
    first_step = first_step.value_or(event.at);
    last_step = event.at;
    steps = std::max(steps, *scalar->step);
  } else if (const auto* ended = event.As<ProcessEnd>(); ended && ended->rss_bytes_max) {
    rss_bytes_max = std::max(rss_bytes_max, *ended->rss_bytes_max);
  } else if (const auto* sample = event.As<Sample>()) {
    for (const Reading& reading : sample->readings) {
      if (reading.quantity == Quantity::kCgroupMemoryLimitBytes) {
        group_limit_bytes = std::min(group_limit_bytes.value_or(reading.value), reading.value);
      }
    }
  } else if (const auto* seen = event.As<Observation>(); seen && seen->kind == "model") {
    const std::string* devices = seen->Text("devices");
    cuda = cuda || (devices != nullptr && devices->find("cuda") != std::string::npos);
  }
}

Result<Rerun> PrepareRerun(const RerunOptions& options) {
  Rerun rerun;
  const auto budget = ParseDuration(options.budget);
  if (!budget) {
    return Error{Error::Code::kUsage, "--budget " + options.budget + " is no time",
                 "for example 180s, 5m"};
  }
  rerun.budget = *budget;
  const auto found = FindRecording(options.path);
  if (!found) {
    return found.error();
  }
  if (!*found) {
    return Error{Error::Code::kNotFound,
                 options.path.empty() ? "no recording yet" : "no recording '" + options.path + "'",
                 "record a run first: whystop run -- python train.py"};
  }
  std::error_code fault;
  rerun.directory = fs::absolute(**found, fault).lexically_normal().string();
  auto run = ReadRecorded(rerun.directory);
  if (!run) {
    return run.error();
  }
  rerun.run = std::move(*run);
  rerun.command = options.command.empty() ? rerun.run.start.command : options.command;
  WS_RETURN_IF_ERROR(CheckSurroundings(options, rerun));
  TellWhatChanged(rerun.run, rerun.command);
  return rerun;
}

Bench BenchFor(const Rerun& rerun, const RerunOptions& options, int jobs) {
  Bench bench;
  std::error_code fault;
  bench.whystop = fs::read_symlink("/proc/self/exe", fault).string();
  bench.command = rerun.command;
  bench.directory = rerun.run.start.directory;
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const auto found = rerun.run.start.environment.find(name);
        found != rerun.run.start.environment.end()) {
      bench.environment[name] = found->second;
    }
  }
  const auto cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  bench.environment.emplace("OMP_NUM_THREADS", std::to_string(std::max(1, cores / jobs)));
  bench.layer_bytes_max =
      std::clamp<std::int64_t>(AvailableBytes() / (4 * jobs), kLayerBytesMin, kLayerBytesMax);
  bench.in_place = options.in_place;
  bench.network = options.network;
  return bench;
}

std::int64_t AvailableBytes() {
  const auto text = ReadFile("/proc/meminfo");
  const std::string_view key = "MemAvailable:";
  const std::size_t at = text ? text->find(key) : std::string::npos;
  if (at == std::string::npos) {
    return 0;
  }
  const std::size_t from = text->find_first_not_of(' ', at + key.size());
  const auto kibibytes =
      ParseWhole<std::int64_t>(std::string_view(*text).substr(from, text->find(' ', from) - from));
  return kibibytes.value_or(0) * 1024;
}

}  // namespace whystop
