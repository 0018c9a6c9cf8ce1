#include "diagnose/analysis.h"

#include <algorithm>
#include <utility>

#include "sign/learning.h"
#include "diagnose/candidates.h"
#include "diagnose/headline.h"
#include "diagnose/outcome.h"
#include "diagnose/rank.h"
#include "diagnose/rivals.h"
#include "diagnose/surroundings.h"
#include "sign/sign.h"
#include "sign/training.h"

namespace whystop {
namespace {

constexpr std::size_t kFindingsMax = 4096;

std::optional<double> OverheadOf(const CaseFile& run) {
  const auto* own = run.Find(Subject::Kind::kRecorder, Quantity::kRecorderCpuMs);
  const auto* job = run.Find(Subject::Kind::kTree, Quantity::kTreeCpuMs);
  if (own == nullptr || job == nullptr || job->last <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(own->last) / static_cast<double>(job->last);
}

void TellProgress(const CaseFile& run, Verdict& verdict) {
  verdict.progress.epoch = run.progress.epoch;
  verdict.progress.epochs_planned = run.progress.epochs_planned;
  verdict.progress.step = run.progress.step;
  verdict.progress.steps_planned = run.progress.steps_planned;
  const auto duration = run.end && run.end->duration ? *run.end->duration : run.last_at;
  if (run.watched) {
    verdict.progress.seconds = std::chrono::duration<double>(duration).count();
  }
}

void TellExit(const CaseFile& run, Verdict& verdict) {
  verdict.exit.code = run.ExitCode();
  if (const int signal = EndingSignal(run); signal != 0) {
    verdict.exit.signal = signal;
    verdict.exit.sent_by = SenderOf(run, signal);
  }
}

}  // namespace

Analysis::Analysis() { StartDetectors(); }

void Analysis::StartDetectors() {
  detectors_.clear();
  collected_ = Collected();
  for (const DetectorEntry& entry : AllDetectors()) {
    detectors_.push_back(entry.make());
  }
}

void Analysis::Collected::Add(Finding finding) {
  if (findings_.size() < kFindingsMax) {
    findings_.push_back(std::move(finding));
  }
}

void Analysis::Push(const Event& event) {
  builder_.Push(event);
  // A log that several runs appended to: what was seen of the former ones says nothing about the
  // last.
  if (const auto* seen = event.As<Observation>();
      seen != nullptr && seen->kind == "session-start") {
    StartDetectors();
    return;
  }
  for (const auto& detector : detectors_) {
    detector->Push(event, collected_);
  }
}

std::vector<Finding> Analysis::Findings() const {
  Collected all = collected_;
  for (const auto& detector : detectors_) {
    detector->Finish(all);
  }
  return all.findings();
}

Ranking Analysis::Rank(bool job_alive) const {
  CaseFile run = builder_.Build();
  run.findings = Findings();
  run.job_alive = job_alive;
  const Training training(run);
  const SignTable signs(training);
  return {ListSigns(signs), InferLearning(signs)};
}

Verdict Analysis::Judge(bool job_alive) const {
  CaseFile run = builder_.Build();
  run.findings = Findings();
  run.job_alive = job_alive;
  Verdict verdict;
  if (run.start) {
    verdict.command = run.start->command;
  }
  const std::vector<Considered> considered = InferLearning(SignTable(Training(run)));
  const std::vector<Candidate> candidates = CollectCandidates(run, considered);
  verdict.causes = RankCauses(candidates);
  verdict.outcome = DecideOutcome(run, verdict.causes);
  const LearningView learning = LearningOf(run);
  verdict.learning = learning.state;
  verdict.learning_text = learning.text;
  TellProgress(run, verdict);
  TellExit(run, verdict);
  verdict.ruled_out = ListRuledOut(run, verdict);
  verdict.unknowns = ListUnknowns(run, verdict);
  TellRivals(candidates, considered, verdict);
  verdict.drops = run.drops;
  verdict.overhead = OverheadOf(run);
  verdict.ending = Ending(run, verdict);
  verdict.headline = Headline(verdict);
  return verdict;
}

}  // namespace whystop
