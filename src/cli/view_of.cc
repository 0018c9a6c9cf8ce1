#include "cli/view_of.h"

#include <unistd.h>

#include <iterator>

#include "base/clock.h"
#include "cause/cause.h"
#include "cli/excerpts.h"
#include "cli/home.h"
#include "cli/run_follower.h"
#include "cli/verdict_of.h"
#include "diagnose/analysis.h"
#include "import/open.h"
#include "import/plain_log/plain_log.h"
#include "record/recording_folder.h"
#include "stream/recording_stream.h"
#include "view/pace.h"
#include "view/view_builder.h"

namespace whystop {
namespace {

// Who asks does not want to wait long; the watcher has looked for longer.
constexpr int kLooksAtOnce = 3;
constexpr std::chrono::milliseconds kPauseAtOnce{300};

/// Hands every event to the judge and to the draughtsman.
class JudgeAndDraw final : public EventSink {
 public:
  void Push(const Event& event) override {
    last_at_ = event.at;
    analysis.Push(event);
    builder.Push(event);
  }
  /// Only the judge is told: what everybody does at this moment makes no curve.
  void PushLive(const LiveLook& live) {
    for (const Event& event : MovingEvents(live, last_at_)) {
      analysis.Push(event);
    }
  }
  SeenRun See(bool alive) const {
    SeenRun seen;
    seen.verdict = analysis.Judge(alive);
    seen.view = builder.Build(analysis.Findings());
    seen.view.guess_level = analysis.LossOfGuessing();
    seen.view.decided_by = seen.verdict.learning_series;
    return seen;
  }
  SeenRun See(const std::string& directory, bool alive) const {
    SeenRun seen = See(alive);
    seen.verdict.run_id = LastPart(directory);
    seen.verdict.sources = {directory};
    AddTrials(directory, seen.verdict);
    return seen;
  }
  Analysis analysis;
  ViewBuilder builder;

 private:
  RunTime last_at_{};
};

class FollowedRun final : public RunFollower {
 public:
  explicit FollowedRun(std::string directory) : directory_(std::move(directory)) {}
  Status Start() {
    auto stream = RecordingStream::Open(directory_, both_, &output_);
    if (!stream) {
      return stream.error();
    }
    stream_ = std::move(*stream);
    return Ok{};
  }
  void Pump() override {
    stream_->Pump();
    stream_->TellProgress();
    // The recorder writes down the end a moment after the job is gone.
    alive_ = !stream_->saw_end() && LockHolder(directory_) > 0;
  }
  SeenRun See() const override { return both_.See(directory_, alive_); }
  SeenRun SeeWithExcerpts() override {
    SeenRun seen = See();
    seen.view.logs = output_.Excerpts(directory_, seen.verdict);
    seen.view.sources = ExcerptsOfSources(seen.view, seen.verdict);
    return seen;
  }
  bool alive() const override { return alive_; }
  std::string LastLine() const override { return output_.LastLine(); }

 private:
  std::string directory_;
  JudgeAndDraw both_;
  OutputKeeper output_;
  std::unique_ptr<RecordingStream> stream_;
  bool alive_ = false;
};

void ShowFilesSeen(std::size_t files) {
  if (files % 1000 == 0 && ::isatty(STDERR_FILENO) != 0) {
    const std::string line = "\rwhystop: " + std::to_string(files) + " files looked at";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }
}

Result<SeenRun> SeeFoundRun(const FoundRun& run) {
  JudgeAndDraw both;
  WS_RETURN_IF_ERROR(ReadRun(run, ReadClocks().wall, both));
  SeenRun seen = both.See(/*alive=*/false);
  seen.verdict.run_id = LastPart(run.name);
  for (const FoundFile& file : run.files) {
    seen.verdict.sources.push_back(file.path);
  }
  return seen;
}

Result<SeenRun> SeeStandardInput() {
  JudgeAndDraw both;
  WS_RETURN_IF_ERROR(ReadPlainLog("-", both));
  SeenRun seen = both.See(/*alive=*/false);
  seen.verdict.sources = {"standard input"};
  return seen;
}

}  // namespace

Result<SeenRun> SeeRecording(const std::string& directory, bool look) {
  JudgeAndDraw both;
  OutputKeeper output;
  auto stream = RecordingStream::Open(directory, both, &output);
  if (!stream) {
    return stream.error();
  }
  (*stream)->Finish();
  output.Close();
  const std::int64_t pid = both.builder.start() ? both.builder.start()->pid : 0;
  const bool alive = !(*stream)->saw_end() && JobIsAlive(directory, pid);
  std::optional<LiveLook> live;
  if (alive && look) {
    live = LookAtJob(static_cast<pid_t>(pid), kLooksAtOnce, kPauseAtOnce);
    both.PushLive(*live);
  }
  SeenRun seen = both.See(directory, alive);
  seen.live = std::move(live);
  seen.view.logs = output.Excerpts(directory, seen.verdict);
  seen.view.sources = ExcerptsOfSources(seen.view, seen.verdict);
  return seen;
}

void DrawTrials(SeenRun& run) {
  for (const TrialResult& trial : run.verdict.trials) {
    if (trial.recording.empty()) {
      continue;
    }
    ViewBuilder builder;
    auto stream = RecordingStream::Open(trial.recording, builder);
    if (!stream) {
      continue;
    }
    (*stream)->Finish();
    RunView view = builder.Build({});
    view.decided_by = run.view.decided_by;
    if (const SeriesLine* series = MainSeries(view)) {
      run.view.trials.push_back({trial.change, *series});
    }
  }
}

Result<std::unique_ptr<RunFollower>> RunFollower::Open(const std::string& directory) {
  auto follower = std::make_unique<FollowedRun>(directory);
  WS_RETURN_IF_ERROR(follower->Start());
  return std::unique_ptr<RunFollower>(std::move(follower));
}

Result<std::vector<SeenRun>> SeeFiles(const std::vector<std::string>& paths, std::size_t views,
                                      bool excerpts) {
  std::vector<SeenRun> runs;
  if (paths == std::vector<std::string>{"-"}) {
    auto seen = SeeStandardInput();
    if (!seen) {
      return seen.error();
    }
    runs.push_back(std::move(*seen));
    return runs;
  }
  auto found = FindRuns(paths, {}, &ShowFilesSeen);
  if (!found) {
    return found.error();
  }
  for (std::size_t i = 0; i < found->runs.size(); ++i) {
    auto seen = SeeFoundRun(found->runs[i]);
    if (!seen) {
      return seen.error();
    }
    if (i + views < found->runs.size()) {
      seen->view = {};
    } else if (excerpts) {
      seen->view.logs = ExcerptsOfFiles(found->runs[i], seen->verdict);
    }
    runs.push_back(std::move(*seen));
  }
  if (runs.empty()) {
    return Error{Error::Code::kNotFound,
                 "found nothing that a training run leaves in '" + paths.front() + "'",
                 "give a recording, a text log, a TensorBoard, W&B, CSV, JSON Lines or "
                 "trainer_state.json file"};
  }
  return runs;
}

Result<std::vector<SeenRun>> SeeRuns(const std::vector<std::string>& names, std::size_t views) {
  std::vector<SeenRun> runs;
  std::vector<std::string> files;
  for (const std::string& name : names.empty() ? std::vector<std::string>{""} : names) {
    const auto found = FindRecording(name);
    if (!found) {
      return found.error();
    }
    if (*found) {
      auto seen = SeeRecording(**found);
      if (!seen) {
        return seen.error();
      }
      runs.push_back(std::move(*seen));
    } else if (name.empty()) {
      return Error{Error::Code::kNotFound, "no recording yet in " + HomeOfRecordings(),
                   "record a run with 'whystop run -- COMMAND', or name a log or a folder"};
    } else {
      files.push_back(name);
    }
  }
  if (!files.empty()) {
    auto left = SeeFiles(files, views, /*excerpts=*/true);
    if (!left) {
      return left.error();
    }
    std::move(left->begin(), left->end(), std::back_inserter(runs));
  }
  return runs;
}

std::vector<NamedPage> PagesFor(const Verdict& verdict) {
  std::vector<NamedPage> pages;
  for (const VerdictCause& cause : verdict.causes) {
    if (const CausePage* page = FindPage(cause.id)) {
      pages.push_back({page->id, page->title, page->text});
    }
  }
  return pages;
}

}  // namespace whystop
