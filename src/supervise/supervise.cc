#include "supervise/supervise.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "supervise/front.h"
#include "supervise/run_facts.h"
#include "supervise/stand_up.h"

namespace whystop {
namespace {

JobResult CannotWatch(const Error& error) {
  JobResult result;
  result.cannot_watch = error.what;
  return result;
}

/// What is left of the front when memory ran out: the job's exit status is still passed on.
JobResult WaitOnly(RunState& state, pid_t keeper) {
  while (::waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
  }
  int status = 0;
  if (!state.job_ended && state.job != 0 && ::waitpid(state.job, &status, 0) == state.job) {
    state.job_status = status;  // The keeper was killed, and so the job had come to us.
    state.job_ended = true;
  }
  JobResult result;
  if (state.job_ended) {
    result.end = ChildEnd::FromWaitStatus(state.job_status);
    result.exit_code = result.end->ShellCode();
  }
  return result;
}

/// Forks the keeper and plays the front.
JobResult RunBoth(RunParts& parts) {
  auto links = Link::MakePair();
  if (!links) {
    return CannotWatch(links.error());
  }
  auto& [front_link, keeper_link] = *links;
  // Orphans of the job come to the keeper; if that is killed, the job itself comes to us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  SignalWitness witness = SignalWitness::Start();
  // Before there is a job: a system that runs out of descriptors then would leave it without a front.
  Front::Ears ears;
  if (!ears) {
    const int fault = errno;
    witness.End();
    return CannotWatch(SystemError("cannot receive signals", fault));
  }
  const pid_t keeper = ::fork();
  if (keeper < 0) {
    const int fault = errno;
    witness.End();
    return CannotWatch(SystemError("cannot start a process", fault));
  }
  if (keeper == 0) {
    front_link.Close();
    witness.Close();
    RunKeeper(parts, keeper_link);
  }
  keeper_link.Close();
  try {
    return Front(parts, std::move(front_link), keeper, std::move(witness), std::move(ears)).Run();
  } catch (...) {
    return WaitOnly(parts.state, keeper);
  }
}

/// Makes all that both processes need, and runs them.
JobResult Watch(const JobOptions& options, const JobSetting& setting, RunStart start,
                RecordingWriter& writer, SweepSource* sweeps) {
  if (const Status able = TryToStandUp(); !able) {
    return CannotWatch(able.error());
  }
  auto channels = MakeChannels();
  if (!channels) {
    return CannotWatch(channels.error());
  }
  const SharedRunState state = MakeSharedRunState();
  if (!state) {
    return CannotWatch({Error::Code::kIo, "cannot map shared memory", ""});
  }
  for (std::size_t i = 0; i < channels->size(); ++i) {
    if ((*channels)[i].file) {
      state->followed_to.at(i) = ::lseek((*channels)[i].file.get(), 0, SEEK_CUR);
    }
  }
  RunParts parts{.plan = {.command = options.command,
                          .environment = JobEnvironment(CurrentEnvironment(), options.environment_set,
                                                        options.python_path_prepend),
                          .setting = setting},
                 .start = std::move(start),
                 .state = *state,
                 .channels = *channels,
                 .writer = writer,
                 .sweeps = sweeps,
                 .ring_directory = options.ring_directory,
                 .origin = MonotonicNow(),
                 .tick = options.tick,
                 .other_children = options.other_children};
  if (!SignalSetting::BlockAll()) {
    return CannotWatch(SystemError("cannot block signals", errno));
  }
  return RunBoth(parts);
}

}  // namespace

void HoldStandardDescriptors() {
  for (;;) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || fd > 2) {
      const Fd closer(fd);
      return;
    }
  }
}

JobResult RunJob(const JobOptions& options, RecordingWriter& writer, SweepSource* sweeps) {
  HoldStandardDescriptors();
  const JobSetting setting = options.setting ? *options.setting : JobSetting::Save();
  RunStart start = options.start_template;
  FillRunFacts(options.command, CurrentEnvironment(), start);
  if (setting.descriptors.given) {  // As the job gets it.
    start.limits["nofile"] = static_cast<std::int64_t>(setting.descriptors.given->rlim_cur);
  }
  JobResult result = Watch(options, setting, std::move(start), writer, sweeps);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);  // It would outlive an exec.
  ::sigprocmask(SIG_SETMASK, &setting.signals.mask, nullptr);
  return result;
}

StartFault ExecuteInstead(const std::vector<std::string>& command, const JobSetting& setting) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: exec's signature predates const
  }
  words.push_back(nullptr);
  setting.Restore();
  ::execvp(words.front(), words.data());
  return DescribeStartFault(command.front(), errno);
}

}  // namespace whystop
