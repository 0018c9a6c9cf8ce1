#include "cli/view_of.h"

#include "base/clock.h"
#include "cause/cause.h"
#include "cli/excerpts.h"
#include "cli/home.h"
#include "cli/run_follower.h"
#include "cli/verdict_of.h"
#include "diagnose/analysis.h"
#include "import/open.h"
#include "stream/recording_stream.h"
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
  SeenRun See(const std::string& directory, bool alive) const {
    SeenRun seen;
    seen.verdict = analysis.Judge(alive);
    seen.verdict.run_id = LastPart(directory);
    seen.verdict.sources = {directory};
    AddTrials(directory, seen.verdict);
    seen.view = builder.Build(analysis.Findings());
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
    const std::int64_t pid = both_.builder.start() ? both_.builder.start()->pid : 0;
    alive_ = !stream_->saw_end() && JobIsAlive(directory_, pid);
  }
  SeenRun See() const override { return both_.See(directory_, alive_); }
  bool alive() const override { return alive_; }
  std::string LastLine() const override { return output_.LastLine(); }

 private:
  std::string directory_;
  JudgeAndDraw both_;
  OutputKeeper output_;
  std::unique_ptr<RecordingStream> stream_;
  bool alive_ = false;
};

Result<SeenRun> SeeFoundRun(const FoundRun& run) {
  JudgeAndDraw both;
  WS_RETURN_IF_ERROR(ReadRun(run, ReadClocks().wall, both));
  SeenRun seen;
  seen.verdict = both.analysis.Judge(/*job_alive=*/false);
  seen.verdict.run_id = LastPart(run.name);
  for (const FoundFile& file : run.files) {
    seen.verdict.sources.push_back(file.path);
  }
  seen.view = both.builder.Build(both.analysis.Findings());
  seen.view.logs = ExcerptsOfFiles(run, seen.verdict);
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

Result<std::unique_ptr<RunFollower>> RunFollower::Open(const std::string& directory) {
  auto follower = std::make_unique<FollowedRun>(directory);
  WS_RETURN_IF_ERROR(follower->Start());
  return std::unique_ptr<RunFollower>(std::move(follower));
}

Result<std::vector<SeenRun>> SeeRuns(const std::vector<std::string>& names) {
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
    auto left = FindRuns(files, {}, [](std::size_t) {});
    if (!left) {
      return left.error();
    }
    for (const FoundRun& run : left->runs) {
      auto seen = SeeFoundRun(run);
      if (!seen) {
        return seen.error();
      }
      runs.push_back(std::move(*seen));
    }
  }
  if (runs.empty()) {
    return Error{Error::Code::kNotFound,
                 "found nothing that a training run leaves in '" + files.front() + "'",
                 "give a recording, a text log, a TensorBoard, W&B, CSV, JSON Lines or "
                 "trainer_state.json file"};
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
