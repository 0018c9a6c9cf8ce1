#include "cli/verdict_of.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "cli/home.h"
#include "diagnose/analysis.h"
#include "import/open.h"
#include "import/plain_log/plain_log.h"
#include "record/recording_folder.h"
#include "diagnose/headline.h"
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

void ShowFilesSeen(std::size_t files) {
  if (files % 1000 == 0 && ::isatty(STDERR_FILENO) != 0) {
    const std::string line = "\rwhystop: " + std::to_string(files) + " files looked at";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }
}

Result<Verdict> JudgeFoundRun(const FoundRun& run) {
  Analysis analysis;
  WS_RETURN_IF_ERROR(ReadRun(run, ReadClocks().wall, analysis));
  Verdict verdict = analysis.Judge(/*job_alive=*/false);
  verdict.run_id = LastPart(run.name);
  for (const FoundFile& file : run.files) {
    verdict.sources.push_back(file.path);
  }
  return verdict;
}

Result<Verdict> JudgeStandardInput() {
  Analysis analysis;
  WS_RETURN_IF_ERROR(ReadPlainLog("-", analysis));
  Verdict verdict = analysis.Judge(/*job_alive=*/false);
  verdict.sources = {"standard input"};
  return verdict;
}

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

Result<std::vector<Verdict>> JudgeFiles(const std::vector<std::string>& paths) {
  if (paths == std::vector<std::string>{"-"}) {
    auto verdict = JudgeStandardInput();
    return verdict ? Result(std::vector{std::move(*verdict)})
                   : Result<std::vector<Verdict>>(verdict.error());
  }
  auto found = FindRuns(paths, {}, &ShowFilesSeen);
  if (!found) {
    return found.error();
  }
  std::vector<Verdict> verdicts;
  for (const FoundRun& run : found->runs) {
    auto verdict = JudgeFoundRun(run);
    if (!verdict) {
      return verdict.error();
    }
    verdicts.push_back(std::move(*verdict));
  }
  if (verdicts.empty()) {
    return Error{Error::Code::kNotFound,
                 "found nothing that a training run leaves in '" + paths.front() + "'",
                 "give a recording, a text log, a TensorBoard, W&B, CSV, JSON Lines or "
                 "trainer_state.json file"};
  }
  return verdicts;
}

}  // namespace whystop
