#include "cli/follow.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <memory>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/human.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/live_screen.h"
#include "cli/run_follower.h"
#include "cli/verdict_of.h"
#include "diagnose/analysis.h"
#include "record/recording_folder.h"
#include "stream/recording_stream.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

constexpr int kPollMs = 500;
constexpr std::chrono::seconds kJudgeEvery{5};

/// Passes events on and tells, once each, what may be the reason of a coming end.
class Announcer final : public EventSink {
 public:
  Announcer(Notifier& notifier, bool aloud) : notifier_(notifier), aloud_(aloud) {}
  void Push(const Event& event) override {
    analysis_.Push(event);
    if (const auto* fact = event.As<LogFact>()) {
      if (aloud_ && fact->role == LogFact::Role::kRoot && !fact->process &&
          told_.insert(fact->cause).second) {
        Complain(fmt::format("{}: {}", fact->cause, fact->line));
      }
    } else if (const auto* start = event.As<RunStart>()) {
      job_pid_ = start->pid;
    }
  }
  /// To be called between two readings.
  void TellOn(bool job_alive) {
    if (aloud_) {
      TellFindings();
    }
    if (notifier_.wanted() && MonotonicNow() - judged_at_ >= kJudgeEvery) {
      notifier_.Look(analysis_.Judge(job_alive));
      judged_at_ = MonotonicNow();
    }
  }
  const Analysis& analysis() const { return analysis_; }
  std::int64_t job_pid() const { return job_pid_; }

 private:
  void TellFindings() {
    for (const Finding& finding : analysis_.Findings()) {
      if (finding.detector != "loss/trend" && told_.insert(finding.detector).second) {
        const std::string where =
            finding.step_from ? fmt::format(" at step {}", HumanCount(*finding.step_from)) : "";
        Complain(fmt::format("{}{}{}", finding.detector,
                             finding.series.empty() ? "" : " " + finding.series, where));
      }
    }
  }

  Notifier& notifier_;
  const bool aloud_;
  std::chrono::nanoseconds judged_at_ = MonotonicNow();
  Analysis analysis_;
  std::set<std::string> told_;
  std::int64_t job_pid_ = 0;
};

/// Waits between two looks; true when the user pressed Ctrl-C and wants the verdict now.
class Patience {
 public:
  Patience() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal_ = Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  bool Interrupted() const {
    pollfd waiting{signal_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, kPollMs) > 0;
  }

 private:
  Fd signal_;
};

}  // namespace

Result<Verdict> FollowRecording(const std::string& directory, Notifier& notifier, bool aloud) {
  Announcer announcer(notifier, aloud);
  auto stream = RecordingStream::Open(directory, announcer);
  if (!stream) {
    return stream.error();
  }
  const Patience patience;
  // The recorder writes down the end a moment after the job is gone.
  bool goes_on = true;
  while (goes_on) {
    (*stream)->Pump();
    goes_on = !(*stream)->saw_end() && LockHolder(directory) > 0;
    announcer.TellOn(JobIsAlive(directory, announcer.job_pid()));
    if (goes_on && patience.Interrupted()) {
      break;
    }
  }
  (*stream)->Finish();
  Verdict verdict =
      announcer.analysis().Judge(goes_on && JobIsAlive(directory, announcer.job_pid()));
  verdict.run_id = LastPart(directory);
  verdict.sources = {directory};
  if (!goes_on) {
    notifier.End(verdict);
  }
  return verdict;
}

Status WatchRecording(const std::string& directory, Notifier& notifier) {
  auto follower = RunFollower::Open(directory);
  if (!follower) {
    return follower.error();
  }
  (*follower)->Pump();
  std::chrono::nanoseconds told_at = MonotonicNow();
  ShowWhileAlive(**follower, "q tells the verdict so far; the run goes on",
                 [&](const SeenRun& seen) {
                   if (notifier.wanted() && MonotonicNow() - told_at >= kJudgeEvery) {
                     notifier.Look(seen.verdict);
                     told_at = MonotonicNow();
                   }
                 });
  if (!(*follower)->alive()) {
    notifier.End((*follower)->See().verdict);
  }
  return Ok{};
}

Result<Verdict> FollowLog(const std::string& path, Notifier& notifier) {
  auto file = OpenFd(path, O_RDONLY);
  if (!file) {
    return file.error();
  }
  Announcer announcer(notifier, /*aloud=*/true);
  LogReader reader(path, announcer, {.text_end = true});
  const Patience patience;
  const auto buffer = std::make_unique<std::array<char, 256 << 10>>();
  do {
    ssize_t size = 0;
    while ((size = ReadSome(file->get(), *buffer)) > 0) {
      reader.Feed({buffer->data(), static_cast<std::size_t>(size)}, RunTime{});
    }
    announcer.TellOn(/*job_alive=*/true);
  } while (!patience.Interrupted());
  reader.Finish(RunTime{}, std::chrono::seconds(0));
  Verdict verdict = announcer.analysis().Judge(/*job_alive=*/false);
  verdict.sources = {path};
  return verdict;
}

}  // namespace whystop
