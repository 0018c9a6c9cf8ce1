#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "cli/watch_hangs.h"
#include "record/recording_folder.h"
#include "record/recording_writer.h"
#include "supervise/supervise.h"
#include "supervise/system_sweep.h"

namespace whystop {
namespace {

constexpr int kOwnFailure = 125;
constexpr int kRestartsMax = 3;

RecordingOptions OptionsOf(const RunOptions& options) {
  RecordingOptions out;
  out.log_head_bytes = options.log_head_mib << 20;
  out.log_tail_bytes = options.log_tail_mib << 20;
  return out;
}

/// Judges in a process of its own: whatever a wrong rule or a damaged file does there, the job's
/// exit status stands.
void SayWhy(const std::string& directory) {
  const pid_t judge = ::fork();
  if (judge == 0) {
    Verdict verdict;
    if (const auto status = JudgeRecording(directory, verdict); status) {
      Complain(RenderLine(verdict));
      const std::string details = fmt::format("  details: whystop why {}\n", directory);
      [[maybe_unused]] const ssize_t written =
          ::write(STDERR_FILENO, details.data(), details.size());
    }
    ::_exit(0);
  }
  if (judge > 0) {
    int status = 0;
    ::waitpid(judge, &status, 0);
  }
}

/// One life of the job. `hung`: the watcher ended it because it hung.
int RunOnce(const RunOptions& options, bool& hung) {
  const std::string directory = options.directory.empty()
                                    ? NewRecordingPath()
                                    : std::filesystem::absolute(options.directory).string();
  auto created = RecordingWriter::Create(directory, OptionsOf(options));
  if (!created && created.error().code == Error::Code::kBusy) {
    Complain(created.error());
    return kOwnFailure;
  }
  if (!created) {
    Complain(created.error().what + "; the job runs without a recording", created.error().hint);
  }
  const std::unique_ptr<RecordingWriter> writer =
      created ? std::move(*created) : RecordingWriter::Null();
  JobOptions job;
  job.command = options.command;
  if (created) {
    const std::string rings = directory + "/" + std::string(kRingFolder);
    ::mkdir(rings.c_str(), 0700);
    job.environment_set["WHYSTOP_RING_DIR"] = rings;
    job.ring_directory = rings;
    if (options.probe) {
      job.python_path_prepend = PythonBootstrap();
      job.environment_set["WHYSTOP_BOOTSTRAP"] =
          job.python_path_prepend;  // For the hook of 'install-hook'.
    }
    if (options.directory.empty()) {
      RememberLatest(directory);
    }
  }
  if (!options.quiet && created) {
    Complain("recording into " + directory);
  }
  SenseOptions sense;
  sense.watched_paths.push_back(directory);
  SystemSweep sweeps(sense);
  std::optional<HangWatcher> watcher;
  if (created) {
    watcher.emplace(directory, options);
  }
  const JobResult result = RunJob(job, *writer, created ? &sweeps : nullptr);
  hung = watcher && watcher->Finish();
  if (!result.fault.empty()) {
    Complain(result.fault);
  } else if (!options.quiet && created) {
    SayWhy(directory);
  }
  return result.exit_code;
}

/// The descriptors that we were started with: a life of the job lets go of them when it ends.
class KeptDescriptors {
 public:
  KeptDescriptors() {
    for (int number = 0; number < kCount; ++number) {
      kept_[static_cast<std::size_t>(number)] = Fd(::fcntl(number, F_DUPFD_CLOEXEC, kCount));
    }
  }
  void Restore() const {
    for (int number = 0; number < kCount; ++number) {
      ::dup2(kept_[static_cast<std::size_t>(number)].get(), number);
    }
  }

 private:
  static constexpr int kCount = 3;
  std::array<Fd, kCount> kept_;
};

}  // namespace

int Run(const RunOptions& options) {
  std::optional<KeptDescriptors> kept;
  if (options.on_hang == "restart") {
    kept.emplace();
  }
  int exit_code = kOwnFailure;
  bool hung = true;
  for (int lives = 0; hung && lives <= kRestartsMax; ++lives) {
    if (lives > 0) {
      kept->Restore();
    }
    if (lives > 0 && !options.quiet) {
      Complain("the job hung and is started again (--on-hang restart)");
    }
    exit_code = RunOnce(options, hung);
    hung = hung && options.on_hang == "restart";
  }
  return exit_code;
}

}  // namespace whystop
