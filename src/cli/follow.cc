#include "cli/follow.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <memory>
#include <set>

#include "base/fd.h"
#include "base/human.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "diagnose/analysis.h"
#include "stream/recording_stream.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

constexpr int kPollMs = 500;

/// Passes events on and tells, once each, what may be the reason of a coming end.
class Announcer final : public EventSink {
 public:
  void Push(const Event& event) override {
    analysis_.Push(event);
    if (const auto* fact = event.As<LogFact>()) {
      if (fact->role == LogFact::Role::kRoot && !fact->process && told_.insert(fact->cause).second) {
        Complain(fmt::format("{}: {}", fact->cause, fact->line));
      }
    } else if (const auto* start = event.As<RunStart>()) {
      job_pid_ = start->pid;
    }
  }
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
  const Analysis& analysis() const { return analysis_; }
  std::int64_t job_pid() const { return job_pid_; }

 private:
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

Result<Verdict> FollowRecording(const std::string& directory) {
  Announcer announcer;
  auto stream = RecordingStream::Open(directory, announcer);
  if (!stream) {
    return stream.error();
  }
  const Patience patience;
  bool alive = true;
  while (alive) {
    (*stream)->Pump();
    announcer.TellFindings();
    alive = !(*stream)->saw_end() && JobIsAlive(directory, announcer.job_pid());
    if (alive && patience.Interrupted()) {
      break;
    }
  }
  (*stream)->Finish();
  Verdict verdict = announcer.analysis().Judge(alive);
  verdict.run_id = LastPart(directory);
  verdict.sources = {directory};
  return verdict;
}

Result<Verdict> FollowLog(const std::string& path) {
  auto file = OpenFd(path, O_RDONLY);
  if (!file) {
    return file.error();
  }
  Announcer announcer;
  LogReader reader(path, announcer, {.text_end = true});
  const Patience patience;
  const auto buffer = std::make_unique<std::array<char, 256 << 10>>();
  do {
    ssize_t size = 0;
    while ((size = ReadSome(file->get(), *buffer)) > 0) {
      reader.Feed({buffer->data(), static_cast<std::size_t>(size)}, RunTime{});
    }
    announcer.TellFindings();
  } while (!patience.Interrupted());
  reader.Finish(RunTime{}, std::chrono::seconds(0));
  Verdict verdict = announcer.analysis().Judge(/*job_alive=*/false);
  verdict.sources = {path};
  return verdict;
}

}  // namespace whystop
