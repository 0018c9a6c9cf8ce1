#include "diagnose/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/human.h"
#include "base/shown_text.h"
#include "cause/memory_facts.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/guessing.h"
#include "sign/learning.h"
#include "sign/near_guessing.h"
#include "diagnose/candidates.h"
#include "diagnose/headline.h"
#include "diagnose/native_advice.h"
#include "diagnose/outcome.h"
#include "diagnose/rank.h"
#include "diagnose/rivals.h"
#include "diagnose/surroundings.h"
#include "diagnose/trainings.h"
#include "model/observations.h"
#include "sign/sign.h"
#include "sign/training.h"

namespace whystop {
namespace {

std::optional<double> OverheadOf(const CaseFile& run) {
  const auto* own = run.Find(Subject::Kind::kRecorder, Quantity::kRecorderCpuMs);
  const auto* job = run.Find(Subject::Kind::kTree, Quantity::kTreeCpuMs);
  if (own == nullptr || job == nullptr || job->last <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(own->last) / static_cast<double>(job->last);
}

/// A program that failed before it trained, beside or behind others that did: their counters say nothing of it.
bool EndedElsewhere(const CaseFile& run) {
  const ExceptionSeen* ending = FindEndingException(run);
  return ending != nullptr && ending->process && !ending->rank && ending->process != TrainingProcess(run) &&
         WasToTrain(run, *ending->process);
}

void TellProgress(const CaseFile& run, Verdict& verdict) {
  const auto duration = run.end && run.end->duration ? *run.end->duration : run.last_at;
  if (run.watched) {
    verdict.progress.seconds = std::chrono::duration<double>(duration).count();
  }
  if (EndedElsewhere(run)) {
    return;
  }
  verdict.progress.epoch = run.progress.epoch;
  // The last look, or the last line, may be older than the end; the account of how the loop ended is not.
  if (const LevelAccount epochs = ReadAccount(run).epochs; epochs.planned == run.progress.epochs_planned && epochs.done) {
    const bool behind = !verdict.progress.epoch || *verdict.progress.epoch < *epochs.done;
    verdict.progress.epoch = behind || epochs.end == LevelEnd::kRanToItsEnd ? epochs.done : verdict.progress.epoch;
  }
  verdict.progress.epochs_planned = run.progress.epochs_planned;
  verdict.progress.step = run.progress.step;
  verdict.progress.steps_planned = run.progress.steps_planned;
}

void TellExit(const CaseFile& run, Verdict& verdict) {
  verdict.exit.code = run.ExitCode();
  if (const int signal = SignalOfStatus(run); signal != 0) {
    verdict.exit.signal = signal;
    verdict.exit.sent_by = SenderOf(run, signal);
  }
}

void TellAccount(const CaseFile& run, Verdict& verdict) {
  const Account account = ReadAccount(run);
  for (const auto& [name, level] : {std::pair("epochs", &account.epochs), {"steps", &account.steps}}) {
    if (level->planned || level->done) {
      verdict.account.push_back({name, level->planned, level->done, std::string(Name(level->end))});
    }
  }
}

/// What may be said of one training by itself.
struct Judged {
  CaseFile file;
  LearningView learning;
  std::vector<Considered> considered;
  std::optional<Confidence> worst;  // Of the surest fault of its learning.
};

Judged JudgeTraining(const CaseFile& job, const Trainings& trainings, std::size_t index) {
  Judged judged;
  judged.file = trainings.CaseOf(index);
  judged.file.findings = trainings.FindingsOf(index);
  judged.file.end = job.end;
  judged.file.job_alive = job.job_alive;
  judged.learning = LearningOf(judged.file);
  judged.considered = InferLearning(SignTable(Training(judged.file)));
  for (const Candidate& candidate : CollectCandidates(judged.file, judged.considered)) {
    const bool counts = candidate.cause->answers == Answers::kLearning && candidate.cause->fault;
    if (counts && (!judged.worst || candidate.confidence < *judged.worst)) {
      judged.worst = candidate.confidence;
    }
  }
  return judged;
}

std::string SeriesOf(const LearningView& learning) {
  return learning.basis == nullptr ? "" : learning.basis->series;
}

std::string NameOfTraining(const CaseFile& file, std::size_t index, std::size_t count) {
  std::string name = fmt::format("training {} of {}", index + 1, count);
  if (const Observation* optimizer = file.FindObservation("optimizer")) {
    const auto told = As<seen::Optimizer>(*optimizer);
    name += fmt::format(" ({}{})", told.name.value_or("optimizer"),
                        told.lr ? ", lr " + HumanNumber(*told.lr) : "");
  }
  return name;
}

/// The last one, unless it is small beside another: a probe on features, a few steps of a trial.
std::size_t MainTraining(const std::vector<Judged>& all) {
  constexpr std::int64_t kTimes = 3;  // A choice: folds and stages of a sweep are of like size, probes many times smaller.
  std::size_t main = all.size() - 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    main = all[i].file.metric_points > kTimes * all[main].file.metric_points ? i : main;
  }
  return main;
}

double LastOf(const Judged& one) { return one.learning.basis == nullptr ? 0 : one.learning.basis->Number("last").value_or(0); }

/// The highest end among those that learned nothing; 0: all moved.
double HighestOfTheIdle(const std::vector<Judged>& all) {
  double highest = 0;
  for (const Judged& one : all) {
    highest = one.learning.state == Learning::kNeverLearned ? std::max(highest, LastOf(one)) : highest;
  }
  return highest;
}

/// The one of a sweep that learned best, and well: models of one kind, each begun anew, with several rates of which one is sought; nullopt: it
/// is no sweep, or none of them did. Two trainings may be two stages, of which the second counts.
std::optional<std::size_t> BestOfSweep(const std::vector<Judged>& all) {
  constexpr std::size_t kMembersMin = 3;
  constexpr double kLearnedWell = 0.5;  // Of what guessing costs, or of what another of them ended at that stood still.
  constexpr double kBegunAnew = 0.4;  // Of the usual start: the first few points of a quick learner lie below it already.
  std::set<std::string> models;
  std::set<double> rates;
  std::vector<double> begins;
  std::optional<std::size_t> best;
  const double stood_still = HighestOfTheIdle(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    models.insert(As<seen::Model>(all[i].file.FindObservation(seen::Model::kKind)).name.value_or(""));
    rates.insert(As<seen::Optimizer>(all[i].file.FindObservation(seen::Optimizer::kKind)).lr.value_or(0));
    const Finding* loss = all[i].learning.basis;
    begins.push_back(loss == nullptr ? 0 : loss->Number("begin").value_or(0));
    const double last = LastOf(all[i]);
    const double share = ShareOfGuessing(all[i].file);
    // Where the level of guessing is not known, its own start stands for it.
    const bool far_from_its_start = share > 0 ? share < kLearnedWell : last < kLearnedWell / 2 * begins.back();
    const bool learned = all[i].learning.Good() && (far_from_its_start || last < kLearnedWell * stood_still);
    best = learned && (!best || last < LastOf(all[*best])) ? i : best;
  }
  std::sort(begins.begin(), begins.end());
  const bool begun_anew = begins.front() > kBegunAnew * begins[begins.size() / 2];
  const bool sweep = all.size() >= kMembersMin && models.size() == 1 && rates.size() > 1 && begun_anew;
  return sweep ? best : std::nullopt;
}

/// What was considered of the training that decides whether the job learns: the one with the surest fault, else the main one. Of a sweep
/// that found what it sought the best one: that others learn little, or diverge, is what it is for, and stands in their lines.
/// Tells the verdict how it learned, and of all trainings a line where there are several.
std::vector<Considered> DecideTraining(const CaseFile& job, const Trainings& trainings, Verdict& verdict) {
  if (trainings.count() == 1) {
    const LearningView learning = LearningOf(job);
    verdict.learning = learning.state;
    verdict.learning_text = learning.text;
    verdict.learning_series = SeriesOf(learning);
    return InferLearning(SignTable(Training(job)));
  }
  std::vector<Judged> all;
  for (std::size_t i = 0; i < trainings.count(); ++i) {
    all.push_back(JudgeTraining(job, trainings, i));
  }
  const std::optional<std::size_t> best = BestOfSweep(all);
  std::optional<std::size_t> blamed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].worst && !best && (!blamed || *all[i].worst < *all[*blamed].worst)) {
      blamed = i;
    }
  }
  const std::size_t decides = blamed.value_or(best.value_or(MainTraining(all)));
  verdict.learning = all[decides].learning.state;
  verdict.learning_text =
      NameOfTraining(all[decides].file, decides, all.size()) + ": " + all[decides].learning.text;
  verdict.learning_series = SeriesOf(all[decides].learning);
  for (std::size_t i = 0; i < all.size(); ++i) {
    verdict.trainings.push_back(fmt::format("{}: {}, {}", NameOfTraining(all[i].file, i, all.size()),
                                            Name(all[i].learning.state), all[i].learning.text));
  }
  return all[decides].considered;
}

/// The headline of a run that is history, short enough to stand beside another.
std::string OneLine(const Verdict& verdict) {
  constexpr std::size_t kTextMax = 120;
  if (verdict.outcome == Outcome::kUnknown) {
    return "ended without a word";
  }
  return ShownText(verdict.headline, kTextMax);
}

/// A damaged recording may tell any step; of a tensor at a step that no run reaches nothing can be compared.
bool IsAtNoStep(const Event& event) {
  constexpr std::int64_t kStepMax = std::int64_t{1} << 53;
  const auto* stats = event.As<TensorStats>();
  return stats != nullptr && (stats->step < -kStepMax || stats->step > kStepMax);
}

}  // namespace

void Analysis::Push(const Event& event) {
  if (IsAtNoStep(event)) {
    return;
  }
  constexpr int kRunsJudged = 100;  // Who appended more often does not ask for the last but one.
  if (const auto* seen = event.As<Observation>(); seen != nullptr && seen->kind == "session-start") {
    run_before_ = runs_ < kRunsJudged ? OneLine(JudgeLastRun(false)) : "";
    ++runs_;
  }
  builder_.Push(event);
  // A log that several runs appended to: what was seen of the former ones says nothing about the
  // last.
  if (const auto* seen = event.As<Observation>();
      seen != nullptr && seen->kind == "session-start") {
    trainings_.StartOver();
    return;
  }
  trainings_.Push(event);
}

std::vector<Finding> Analysis::Findings() const {
  return trainings_.FindingsOf(trainings_.count() - 1);
}

CaseFile Analysis::CaseOfJob(bool job_alive) const {
  CaseFile run = builder_.Build();
  run.findings = Findings();
  run.job_alive = job_alive;
  return run;
}

std::optional<double> Analysis::LossOfGuessing() const { return whystop::LossOfGuessing(CaseOfJob(false)); }

Ranking Analysis::Rank(bool job_alive) const {
  const CaseFile run = CaseOfJob(job_alive);
  const Training training(run);
  const SignTable signs(training);
  return {ListSigns(signs), InferLearning(signs)};
}

Verdict Analysis::Judge(bool job_alive) const {
  Verdict verdict = JudgeLastRun(job_alive);
  if (runs_ > 1) {
    verdict.ending += fmt::format(" (the last of {} runs in these files{})", runs_,
                                  run_before_.empty() ? "" : "; the one before: " + run_before_);
    verdict.headline = Headline(verdict);
  }
  return verdict;
}

Verdict Analysis::JudgeLastRun(bool job_alive) const {
  const CaseFile run = CaseOfJob(job_alive);
  Verdict verdict;
  if (run.start) {
    verdict.command = run.start->command;
  }
  const std::vector<Considered> considered = DecideTraining(run, trainings_, verdict);
  const std::vector<Candidate> candidates = CollectCandidates(run, considered);
  verdict.causes = RankCauses(candidates);
  TranslateAdvice(run, verdict.causes);
  verdict.outcome = DecideOutcome(run, verdict.causes);
  TellAccount(run, verdict);
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
