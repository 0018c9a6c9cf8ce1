#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "base/human.h"
#include "base/human_parse.h"
#include "base/shown_text.h"
#include "base/wait_for.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/die_by.h"
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
constexpr int kNotifyPatienceMs = 15'000;

/// Waits for a child, at most so long.
bool EndsWithin(pid_t child, int patience_ms) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (process) {
    WaitFor(process.get(), POLLIN, patience_ms);
    return ::waitpid(child, nullptr, WNOHANG) != 0;
  }
  // Kernels before 5.3: looks again and again.
  constexpr int kLookEveryMs = 20;
  for (int waited_ms = 0; ::waitpid(child, nullptr, WNOHANG) == 0; waited_ms += kLookEveryMs) {
    if (waited_ms >= patience_ms) {
      return false;
    }
    ::poll(nullptr, 0, kLookEveryMs);
  }
  return true;
}

RecordingOptions OptionsOf(const RunOptions& options) {
  RecordingOptions out;
  out.log_head_bytes = options.log_head_mib << 20;
  out.log_tail_bytes = options.log_tail_mib << 20;
  return ShareOut(ParseBytes(options.max_size).value_or(kRecordingBytes), out);
}

/// Judges in a process of its own: whatever a wrong rule or a damaged file does there, the job's
/// exit status stands. Nor does that status wait long for it: the verdict can be had later.
void SayWhy(const std::string& directory) {
  constexpr int kPatienceMs = 5000;
  const pid_t judge = ::fork();
  if (judge == 0) {
    Verdict verdict;
    if (const auto status = JudgeRecording(directory, verdict); status) {
      Complain(RenderLine(verdict));
      const std::string details = fmt::format("  details: whystop why {}\n", ShownText(directory));
      [[maybe_unused]] const int fault = WriteAll(STDERR_FILENO, details);
    }
    ::_exit(0);
  }
  if (judge > 0 && !EndsWithin(judge, kPatienceMs)) {
    ::kill(judge, SIGKILL);
    ::waitpid(judge, nullptr, 0);
    Complain(fmt::format("the verdict takes longer: whystop why {}", directory));
  }
}

/// Where and into what the run is recorded.
struct Recording {
  std::string directory;
  std::unique_ptr<RecordingWriter> writer;  // Keeps nothing where there is no recording.
  bool kept = false;
};

/// A folder of its own for a run that was given none: another run may be about to take the same
/// name.
Result<std::unique_ptr<RecordingWriter>> CreateUnderHome(const RunOptions& options,
                                                         std::string& directory) {
  constexpr int kAttempts = 20;
  for (int attempt = 0;; ++attempt) {
    auto made = NewRecordingPath(attempt);
    if (made) {
      directory = *made;
      return RecordingWriter::Create(directory, OptionsOf(options));
    }
    if (made.error().code != Error::Code::kBusy || attempt == kAttempts) {
      return Error{Error::Code::kIo, made.error().what, made.error().hint};
    }
  }
}

Result<Recording> OpenRecording(const RunOptions& options) {
  Recording recording;
  Result<std::unique_ptr<RecordingWriter>> created = Error{};
  if (options.directory.empty()) {
    created = CreateUnderHome(options, recording.directory);
  } else {
    recording.directory = std::filesystem::absolute(options.directory).string();
    created = RecordingWriter::Create(recording.directory, OptionsOf(options));
  }
  if (!created && created.error().code == Error::Code::kBusy) {
    return created.error();
  }
  recording.kept = static_cast<bool>(created);
  if (!created) {
    Complain(created.error().what + "; the job runs without a recording", created.error().hint);
  }
  recording.writer = created ? std::move(*created) : RecordingWriter::Null();
  return recording;
}

JobOptions JobOf(const RunOptions& options, const Recording& recording) {
  JobOptions job;
  job.command = options.command;
  if (!recording.kept) {
    return job;
  }
  const std::string rings = recording.directory + "/" + std::string(kRingFolder);
  ::mkdir(rings.c_str(), 0700);
  struct stat facts {};
  const bool ours =
      ::lstat(rings.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid();
  if (ours) {
    job.environment_set["WHYSTOP_RING_DIR"] = rings;
    job.ring_directory = rings;
    if (options.probe) {
      job.python_path_prepend = PythonBootstrap();
    }
  }
  if (options.directory.empty()) {
    RememberLatest(recording.directory);
  }
  return job;
}

/// Becomes the job where whystop cannot watch it: that costs the recording, never the run.
int RunUnwatched(const RunOptions& options, const JobSetting& setting, std::string_view reason) {
  Complain(fmt::format("cannot watch this run: {}; the job runs without whystop", reason));
  const StartFault fault = ExecuteInstead(options.command, setting);
  Complain(fault.what);
  return fault.exit_code;
}

/// The process that runs the user's command when the job hangs, diverges or ends.
ProcessBeside StartNotifier(const std::string& directory, const RunOptions& options) {
  std::vector<std::string> arguments = {"wsnotifier", "notify",    "--dir",
                                        directory,    "--command", options.notify};
  if (options.quiet) {
    arguments.emplace_back("--quiet");
  }
  return ProcessBeside(arguments);
}

/// How a life of the job ended, for whoever waits for us.
struct LifeEnd {
  int exit_code = kOwnFailure;
  int signal = 0;     // That ended the job; 0: none did.
  bool hung = false;  // The watcher ended it because it hung.
};

LifeEnd RunOnce(const RunOptions& options, const JobSetting& setting) {
  LifeEnd life;
  auto recording = OpenRecording(options);
  if (!recording) {
    Complain(recording.error());
    return life;
  }
  JobOptions job = JobOf(options, *recording);
  job.setting = setting;
  if (!options.quiet && recording->kept) {
    Complain("recording into " + recording->directory);
  }
  SenseOptions sense;
  sense.watched_paths = {recording->directory, "/dev/shm"};
  sense.probe_folder = job.python_path_prepend;
  SystemSweep sweeps(sense);
  std::optional<HangWatcher> watcher;
  if (recording->kept) {
    watcher.emplace(recording->directory, options, OptionsOf(options));
    job.other_children.push_back(watcher->pid());
  }
  std::optional<ProcessBeside> notifier;
  if (recording->kept && !options.notify.empty()) {
    notifier.emplace(StartNotifier(recording->directory, options));
    job.other_children.push_back(notifier->pid());
  }
  const JobResult result = RunJob(job, *recording->writer, recording->kept ? &sweeps : nullptr);
  if (!result.cannot_watch.empty()) {
    if (watcher) {
      watcher->End();
    }
    if (notifier) {
      notifier->Kill();
    }
    life.exit_code = RunUnwatched(options, setting, result.cannot_watch);
    return life;
  }
  life.hung = watcher && watcher->Finish();
  const bool speaks = !result.fault.empty() || (!options.quiet && recording->kept);
  if (speaks && result.stderr_line_open) {
    [[maybe_unused]] const int fault = WriteAll(STDERR_FILENO, "\n");
  }
  if (!result.fault.empty()) {
    Complain(result.fault);
  } else if (speaks) {
    SayWhy(recording->directory);
  }
  if (notifier) {
    // In a container it would end with us. What takes longer goes on alone.
    notifier->EndsWithin(kNotifyPatienceMs);
  }
  life.exit_code = result.exit_code;
  life.signal = result.end ? result.end->signal() : 0;
  return life;
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

/// All lives of the job.
LifeEnd RunLives(const RunOptions& options, const JobSetting& setting) {
  std::optional<KeptDescriptors> kept;
  if (options.on_hang == "restart") {
    kept.emplace();
  }
  LifeEnd last{.hung = true};
  for (int lives = 0; last.hung && lives <= kRestartsMax; ++lives) {
    if (lives > 0) {
      kept->Restore();
    }
    if (lives > 0 && !options.quiet) {
      Complain("the job hung and is started again (--on-hang restart)");
    }
    last = RunOnce(options, setting);
    last.hung = last.hung && options.on_hang == "restart";
  }
  return last;
}

}  // namespace

int Run(const RunOptions& options) {
  if (!options.max_size.empty() && ParseBytes(options.max_size).value_or(0) < kRecordingBytesMin) {
    Complain("--max-size " + options.max_size + " is no size, or too small for a recording",
             fmt::format("{} or more, for example 200M", HumanBytes(kRecordingBytesMin)));
    return kExitUsage;
  }
  const JobSetting setting = JobSetting::Save();
  try {
    const LifeEnd last = RunLives(options, setting);
    if (WasTypedForAllOfUs(last.signal)) {
      DieBy(last.signal);
    }
    return last.exit_code;
  } catch (const std::exception& fault) {
    // Only from before there is a job: from then on RunJob passes its status on, come what may.
    return RunUnwatched(options, setting, fault.what());
  }
}

}  // namespace whystop
