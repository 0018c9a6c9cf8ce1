#include "cli/verdict_of.h"

#include <signal.h>

#include <cerrno>

#include "cli/home.h"
#include "diagnose/analysis.h"
#include "diagnose/headline.h"
#include "record/recording_folder.h"
#include "stream/recording_stream.h"
#include "try/add_to_verdict.h"

namespace whystop {
namespace {

/// Passes events on to the analysis and remembers which process the job is.
class JobWatch final : public EventSink {
 public:
  explicit JobWatch(Analysis& analysis) : analysis_(analysis) {}
  void Push(const Event& event) override {
    if (const auto* start = event.As<RunStart>()) {
      pid_ = start->pid;
    }
    analysis_.Push(event);
  }
  std::int64_t pid() const { return pid_; }

 private:
  Analysis& analysis_;
  std::int64_t pid_ = 0;
};

}  // namespace

bool JobIsAlive(const std::string& directory, std::int64_t job_pid) {
  // The lock says that a whystop still follows this very job, so the pid has not been given to
  // another process.
  return job_pid > 0 && LockHolder(directory) > 0 &&
         (::kill(static_cast<pid_t>(job_pid), 0) == 0 || errno == EPERM);
}

Status JudgeByWatching(const std::string& directory, Verdict& out) {
  Analysis analysis;
  JobWatch watch(analysis);
  auto stream = RecordingStream::Open(directory, watch);
  if (!stream) {
    return stream.error();
  }
  (*stream)->Finish();
  out = analysis.Judge(!(*stream)->saw_end() && JobIsAlive(directory, watch.pid()));
  out.run_id = LastPart(directory);
  out.sources = {directory};
  return Ok{};
}

void AddTrials(const std::string& directory, Verdict& verdict) {
  if (AddTrialsOf(directory, verdict)) {
    verdict.headline = Headline(verdict);
  }
}

Status JudgeRecording(const std::string& directory, Verdict& out) {
  WS_RETURN_IF_ERROR(JudgeByWatching(directory, out));
  AddTrials(directory, out);
  return Ok{};
}

}  // namespace whystop
