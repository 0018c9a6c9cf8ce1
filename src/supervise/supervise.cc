#include "supervise/supervise.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "supervise/front.h"
#include "supervise/run_facts.h"

namespace whystop {
namespace {

JobResult Fault(const Error& error) { return {.end = {}, .exit_code = 125, .fault = error.what}; }

/// Forks the keeper and plays the front.
JobResult RunBoth(RunParts& parts) {
  auto links = Link::MakePair();
  if (!links) {
    return Fault(links.error());
  }
  auto& [front_link, keeper_link] = *links;
  // Orphans of the job come to the keeper; if that is killed, the job itself comes to us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  SignalWitness witness = SignalWitness::Start();
  const pid_t keeper = ::fork();
  if (keeper < 0) {
    return Fault(SystemError("cannot start whystop's keeper process", errno));
  }
  if (keeper == 0) {
    front_link.Close();
    witness.Close();
    RunKeeper(parts, keeper_link);
  }
  keeper_link.Close();
  ReplaceByNull(0);  // The job alone reads it; who writes to it must see when the job closes it.
  return Front(parts, std::move(front_link), keeper, std::move(witness)).Run();
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
  auto channels = MakeChannels();
  if (!channels) {
    return Fault(channels.error());
  }
  const SharedRunState state = MakeSharedRunState();
  if (!state) {
    return Fault({Error::Code::kIo, "cannot map shared memory", ""});
  }
  for (std::size_t i = 0; i < channels->size(); ++i) {
    if ((*channels)[i].file) {
      state->followed_to.at(i) = ::lseek((*channels)[i].file.get(), 0, SEEK_CUR);
    }
  }
  const std::vector<std::string> environment = CurrentEnvironment();
  RunParts parts{.plan = {.command = options.command,
                          .environment = JobEnvironment(environment, options.environment_set,
                                                        options.python_path_prepend),
                          .signals = {}},
                 .start = options.start_template,
                 .state = *state,
                 .channels = *channels,
                 .writer = writer,
                 .sweeps = sweeps,
                 .ring_directory = options.ring_directory,
                 .origin = MonotonicNow(),
                 .tick = options.tick};
  FillRunFacts(options.command, environment, parts.start);
  parts.plan.signals = SignalSetting::SaveAndBlockAll();
  JobResult result = RunBoth(parts);
  parts.plan.signals.Restore();
  return result;
}

}  // namespace whystop
