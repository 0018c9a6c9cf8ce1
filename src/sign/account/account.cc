#include "sign/account/account.h"

#include <algorithm>
#include <cmath>
#include <csignal>

#include "model/observations.h"
#include "sign/account/notebook.h"
#include "sign/exception_facts.h"
#include "sign/exit_reason.h"
#include "sign/loop_exit.h"
#include "sign/shell_notice.h"

namespace whystop {
namespace {

// What nobody saw end is read from looks, some ten a second, and from logs that count from 0 or 1.
constexpr double kUnseenTurns = 2;
constexpr double kUnseenShare = 0.9;
constexpr double kTurnsOfAStep = 1.05;
// A program that counts its steps in print does so more than twice.
constexpr double kPrintedShare = 0.5;

LevelEnd EndOf(const seen::LoopExit& exit) {
  const std::string how = exit.how.value_or("");
  if (how == "end") {
    return exit.condition ? LevelEnd::kCondition : LevelEnd::kRanToItsEnd;
  }
  return how == "raise" || how == "exception" ? LevelEnd::kException : LevelEnd::kLeft;
}

/// The exit that speaks for a level: the last one of that role.
const Observation* ExitOf(const CaseFile& run, std::string_view role) {
  const Observation* last = nullptr;
  for (const Observation* one : OfTraining(run, "loop-exit")) {
    if (As<seen::LoopExit>(*one).role == role) {
      last = one;
    }
  }
  return last;
}

/// A loop over a stream has no plan of its own. The program may have one: "step 400/1200" in print, where it counts the turns.
std::optional<double> PlanInPrint(const Progress& progress, double turns) {
  constexpr double kSameCount = 0.7;  // It prints now and then.
  if (progress.process || !progress.step || !progress.steps_planned) {
    return std::nullopt;
  }
  const double printed = static_cast<double>(*progress.step);
  const double planned = static_cast<double>(*progress.steps_planned);
  const bool counts_turns = printed <= turns + 1 && printed >= kSameCount * turns;
  return counts_turns && turns < kUnseenShare * planned ? std::optional(planned) : std::nullopt;
}

LevelAccount FromLoop(const CaseFile& run, std::string_view role) {
  const Observation* last = ExitOf(run, role);
  if (last == nullptr) {
    return {};
  }
  const auto exit = As<seen::LoopExit>(*last);
  LevelAccount level{exit.planned, exit.turn, EndOf(exit), "loop"};
  if (ReasonOf(last) == ExitReason::kStepBudget) {
    level.planned = level.done;  // A budget of its own is the plan, where it is the smaller one.
  }
  if (role == "steps" && !level.planned && level.end == LevelEnd::kRanToItsEnd) {
    level.planned = PlanInPrint(run.progress, level.done.value_or(0));
  }
  if (level.planned && level.done) {
    level.done = std::min(*level.done, *level.planned);  // A counter stands behind its last turn.
  }
  return level;
}

/// Steps where the framework counts to a number of them, else epochs.
void ReadFramework(const CaseFile& run, Account& account) {
  const Observation* begun = LastOfTraining(run, "framework");
  const Observation* ended = LastOfTraining(run, "framework-end");
  if (begun == nullptr || ended == nullptr) {
    return;
  }
  const auto plan = As<seen::Framework>(*begun);
  const auto end = As<seen::FrameworkEnd>(*ended);
  const LevelEnd how = StopRequest(run) != nullptr ? LevelEnd::kAskedToStop : LevelEnd::kRanToItsEnd;
  const auto steps = plan.steps ? plan.steps
                     : end.steps ? std::optional<double>(static_cast<double>(*end.steps))
                                 : std::nullopt;
  if (plan.epochs && *plan.epochs > 0 && plan.start_epoch.value_or(0) >= *plan.epochs) {
    account.epochs = {plan.epochs, plan.epochs, LevelEnd::kNothingToDo, "framework"};  // Done before, whatever is counted now.
  } else if (steps && *steps > 0 && static_cast<double>(plan.start_step.value_or(0)) >= *steps) {
    account.steps = {steps, steps, LevelEnd::kNothingToDo, "framework"};
  } else if (steps && *steps > 0 && end.global_step) {
    account.steps = {steps, std::min(*steps, static_cast<double>(*end.global_step)), how, "framework"};
  } else if (plan.epochs && end.epoch) {
    account.epochs = {plan.epochs, std::min(*plan.epochs, *end.epoch), how, "framework"};
  }
}

/// A single loop over steps that nobody saw end: no more turns than steps were made, by the count at the end.
void ReadOnlyLoop(const CaseFile& run, Account& account) {
  const Observation* told = LastOfTraining(run, "loop-plan");
  const Observation* counted = LastOfTraining(run, "counts");
  if (told == nullptr || counted == nullptr) {
    return;
  }
  const auto plan = As<seen::LoopPlan>(*told);
  const auto steps = As<seen::Counts>(*counted).steps;
  const auto seen = run.progress.step;
  if (plan.levels == 1 && plan.role == "steps" && plan.planned && steps && seen && run.progress.epochs_planned == std::nullopt) {
    const double made = static_cast<double>(*steps);
    const double done = std::max(made, static_cast<double>(*seen));
    if (done > kTurnsOfAStep * made + 2) {
      return;  // A step takes several turns, and nobody counted the last of these.
    }
    account.steps = {plan.planned, std::min(done, *plan.planned), LevelEnd::kNotSeen, "loop"};
  }
}

/// How far the counters were seen to come, where nobody saw the loops end.
void ReadProgress(const CaseFile& run, Account& account) {
  const Progress& progress = run.progress;
  if (account.epochs.told_by.empty() && account.steps.told_by.empty() && progress.epoch &&
      progress.epochs_planned) {
    account.epochs = {progress.epochs_planned, std::min(*progress.epoch, *progress.epochs_planned),
                      LevelEnd::kNotSeen, progress.process ? "loop" : "log"};
  }
  if (account.epochs.told_by.empty() && account.steps.told_by.empty()) {
    ReadOnlyLoop(run, account);
  }
  const bool only_printed = account.epochs.told_by.empty() && account.steps.told_by.empty() &&
                            !progress.process && !progress.epoch && progress.step && progress.steps_planned;
  if (only_printed && static_cast<double>(*progress.step) < kPrintedShare * static_cast<double>(*progress.steps_planned)) {
    account.steps = {static_cast<double>(*progress.steps_planned), static_cast<double>(*progress.step),
                     LevelEnd::kNotSeen, "log"};
  }
}

/// The steps that were made are counted exactly at the end; looks at the epoch are not.
bool StepsSpeakAgainst(const CaseFile& run, const LevelAccount& epochs) {
  const Observation* told = LastOfTraining(run, "counts");
  const auto steps = told == nullptr ? std::nullopt : As<seen::Counts>(*told).steps;
  if (!steps || epochs.end != LevelEnd::kNotSeen || !run.progress.steps_planned) {
    return false;
  }
  return static_cast<double>(*steps) >
         kUnseenShare * static_cast<double>(*run.progress.steps_planned);
}

const Observation* TrainingLoader(const CaseFile& run, const Observation*& passes) {
  std::int64_t most = 0;
  for (const Observation* one : OfTraining(run, "passes")) {
    const auto told = As<seen::Passes>(*one);
    if (told.steps.value_or(0) >= most && told.steps.value_or(0) > 0) {
      most = *told.steps;
      passes = one;
    }
  }
  if (passes == nullptr) {
    return nullptr;
  }
  for (const Observation& one : run.observations) {
    if (one.kind == "loader" && one.process == passes->process &&
        As<seen::Loader>(one).loader == As<seen::Passes>(passes).loader) {
      return &one;
    }
  }
  return nullptr;
}

void FindWhatCut(const CaseFile& run, CutPasses& cut) {
  for (const Observation* one : OfTraining(run, "exception-caught")) {
    cut.caught = As<seen::ExceptionCaught>(*one).cut.value_or(false) ? one : cut.caught;
  }
  for (const Observation* one : OfTraining(run, "loop-exit")) {
    const auto exit = As<seen::LoopExit>(*one);
    const bool inner = exit.level && exit.levels && *exit.level == *exit.levels - 1 && *exit.level > 0;
    cut.exit = inner && exit.how == "break" ? one : cut.exit;
  }
}

/// By the loader's own count, or else by what was seen at the exits of the batch loop.
std::optional<CutPasses> ReadCutPasses(const CaseFile& run) {
  constexpr double kShareMax = 0.95;
  CutPasses cut;
  FindWhatCut(run, cut);
  const Observation* told = nullptr;
  if (const Observation* loader = TrainingLoader(run, told)) {
    const auto plan = As<seen::Loader>(*loader);
    const auto passes = As<seen::Passes>(*told);
    cut.passes = passes.begun.value_or(0);
    cut.cut = cut.passes - passes.ended.value_or(0);
    cut.batches_planned = static_cast<double>(plan.batches.value_or(0));
    cut.batches_done = static_cast<double>(passes.batches.value_or(0)) /
                       static_cast<double>(std::max<std::int64_t>(cut.passes, 1));
    cut.shuffled = plan.shuffle.value_or(false);
  } else if (cut.exit != nullptr) {
    const auto exits = OfTraining(run, "loop-exit");
    const auto exit = As<seen::LoopExit>(*cut.exit);
    // Now after 4 turns and now after 35: episodes that end by themselves, no data that is left out.
    if (std::any_of(exits.begin(), exits.end(), [&exit](const Observation* one) {
          const auto other = As<seen::LoopExit>(*one);
          return other.line == exit.line && other.turn && exit.turn && *other.turn != *exit.turn;
        })) {
      return std::nullopt;
    }
    cut.cut = std::count_if(exits.begin(), exits.end(), [&exit](const Observation* one) {
      return As<seen::LoopExit>(*one).line == exit.line;
    });
    cut.passes = cut.cut;
    cut.batches_planned = exit.planned.value_or(0);
    cut.batches_done = exit.turn.value_or(0);
  }
  const bool often = cut.cut >= 2 && cut.batches_planned > 1 &&
                     cut.batches_done < kShareMax * cut.batches_planned;
  return often ? std::optional(cut) : std::nullopt;
}

bool IsRequest(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGUSR1 ||
         signal == SIGUSR2 || signal == SIGXCPU;
}

}  // namespace

std::string_view Name(LevelEnd end) {
  switch (end) {
    case LevelEnd::kRanToItsEnd:
      return "ran to its end";
    case LevelEnd::kCondition:
      return "its condition turned false";
    case LevelEnd::kLeft:
      return "was left by a statement";
    case LevelEnd::kException:
      return "was left by an exception";
    case LevelEnd::kAskedToStop:
      return "was asked to stop";
    case LevelEnd::kNothingToDo:
      return "had nothing to do";
    case LevelEnd::kNotSeen:
      break;
  }
  return "";
}

std::optional<double> LevelAccount::Missing() const {
  return planned && done ? std::optional(std::max(0.0, *planned - *done)) : std::nullopt;
}

bool LevelAccount::IsShort() const {
  const auto missing = Missing();
  if (!missing) {
    return false;
  }
  if (end == LevelEnd::kNotSeen) {
    return *missing >= kUnseenTurns && *done < kUnseenShare * *planned;
  }
  return *missing > 0.5;  // Frameworks count parts of epochs.
}

bool Account::IsShort() const { return epochs.IsShort() || steps.IsShort(); }

bool WasToTrain(const CaseFile& run, std::int64_t process) {
  return std::any_of(run.observations.begin(), run.observations.end(), [process](const Observation& one) {
    if (one.process != process) {
      return false;
    }
    if (one.kind == "python") {
      const auto told = As<seen::Python>(one);
      return told.torch || told.tensorflow || told.keras;
    }
    return one.kind == "optimizer" || one.kind == "framework" || one.kind == "no-training";
  });
}

std::optional<std::int64_t> TrainingProcess(const CaseFile& run) {
  const Observation* chosen = nullptr;
  for (const Observation& one : run.observations) {
    if (one.kind != "counts" || As<seen::Counts>(one).steps.value_or(0) == 0 || !one.process) {
      continue;
    }
    const bool first_rank_known = chosen != nullptr && chosen->rank == 0;
    if (chosen == nullptr || one.rank == 0 || !first_rank_known) {
      chosen = &one;
    }
  }
  for (const Observation& one : run.observations) {
    // One that died before it counted for the first time: its loops and its optimizer were told at the first step.
    if (chosen == nullptr && one.process && (one.kind == "loop-plan" || one.kind == "optimizer")) {
      chosen = &one;
    }
  }
  return chosen == nullptr ? std::nullopt : chosen->process;
}

std::vector<const Observation*> OfTraining(const CaseFile& run, std::string_view kind) {
  const auto process = TrainingProcess(run);
  std::vector<const Observation*> found;
  std::optional<int> last;
  for (const Observation& one : run.observations) {
    if (process && one.process == process) {
      last = std::max(last, one.training);
    }
  }
  for (const Observation& one : run.observations) {
    const bool ours = !process || !one.process || (one.process == process && one.training == last);
    if (one.kind == kind && ours) {
      found.push_back(&one);
    }
  }
  return found;
}

const Observation* LastOfTraining(const CaseFile& run, std::string_view kind) {
  const auto all = OfTraining(run, kind);
  return all.empty() ? nullptr : all.back();
}

const Observation* StopRequest(const CaseFile& run) {
  const Observation* asked = LastOfTraining(run, "framework-stop");
  const Observation* ended = LastOfTraining(run, "framework-end");
  if (asked == nullptr || ended == nullptr) {
    return asked;
  }
  const auto end = As<seen::FrameworkEnd>(*ended);
  if (end.stop_flag == false && ended->step && asked->step && *ended->step > *asked->step) {
    return nullptr;  // It trained again after that.
  }
  const bool all_steps = end.steps && *end.steps > 0 && end.global_step.value_or(0) >= *end.steps;
  const bool all_epochs = !end.steps && end.epochs && *end.epochs > 0 && end.epoch.value_or(0) >= *end.epochs;
  return all_steps || all_epochs ? nullptr : asked;
}

Account ReadAccount(const CaseFile& run) {
  Account account;
  account.epochs = FromLoop(run, "epochs");
  // The batches of one pass are no account of the run.
  const Observation* steps = ExitOf(run, "steps");
  const bool alone = steps != nullptr && As<seen::LoopExit>(*steps).level.value_or(0) == 0;
  account.steps = account.epochs.told_by.empty() && alone ? FromLoop(run, "steps") : LevelAccount{};
  ReadFramework(run, account);
  ReadProgress(run, account);
  if (StepsSpeakAgainst(run, account.epochs)) {
    account.epochs.done = account.epochs.planned;
  }
  account.cut_passes = ReadCutPasses(run);
  return account;
}

const Observation* PlanOfBatches(const CaseFile& run, const CutPasses& cut) {
  const Observation* found = nullptr;
  for (const Observation* one : OfTraining(run, "loop-plan")) {
    const auto plan = As<seen::LoopPlan>(*one);
    const bool innermost = plan.level && plan.levels && *plan.level == *plan.levels - 1;
    found = innermost && plan.planned == cut.batches_planned ? one : found;
  }
  return found;
}

CutBy WhatCut(const CaseFile& run, const CutPasses& cut) {
  if (cut.exit != nullptr) {
    return ErrorOf(*cut.exit).empty() ? CutBy::kStatement : CutBy::kException;
  }
  if (cut.caught != nullptr) {
    return CutBy::kException;
  }
  const Observation* told = PlanOfBatches(run, cut);
  if (told == nullptr || run.ExitCode() != 0) {
    return CutBy::kNotKnown;
  }
  const auto plan = As<seen::LoopPlan>(*told);
  if (plan.exits == 0) {
    return CutBy::kException;
  }
  return !plan.only_exit                                           ? CutBy::kNotKnown
         : plan.only_exit->find("except ") != std::string::npos ? CutBy::kException
                                                                   : CutBy::kStatement;
}

namespace {

/// A Python program that ends its own worker, a pool's or one of several that it let compete, decides that by itself.
bool SentToItsOwnChild(const CaseFile& run, const SignalSeen& seen) {
  return seen.signal == SIGTERM && seen.sender_pid && seen.process && seen.sender_name.starts_with("python") &&
         std::any_of(run.process_ends.begin(), run.process_ends.end(), [&seen](const ProcessEnd& ended) {
           return ended.pid == *seen.process && ended.parent_pid == *seen.sender_pid;
         });
}

}  // namespace

const SignalSeen* AskedToEnd(const CaseFile& run) {
  if (run.ExitCode() != 0 || run.job_alive) {
    return nullptr;
  }
  const Observation* exit = FinalExit(run);
  const ExitReason reason = ReasonOf(exit);
  const bool own_reason = reason == ExitReason::kPatience || reason == ExitReason::kTarget ||
                          reason == ExitReason::kNotFinite || reason == ExitReason::kError;
  const Account account = ReadAccount(run);
  const bool endless = account.epochs.told_by.empty() && account.steps.told_by.empty();
  if (own_reason || StopRequest(run) != nullptr || !(account.IsShort() || endless)) {
    return nullptr;
  }
  const SignalSeen* last = nullptr;
  for (const SignalSeen& seen : run.signals) {
    // Without a plan only what asks for nothing else counts: SIGUSR1 may ask for a checkpoint.
    const bool plain = seen.signal == SIGTERM || seen.signal == SIGINT;
    const bool of_a_cell = seen.signal == SIGINT && IsNotebookKernel(run);
    if (IsRequest(seen.signal) && !of_a_cell && !seen.by_whystop && !SentToItsOwnChild(run, seen) && (!endless || plain)) {
      last = &seen;
    }
  }
  return last;
}

bool LeftWithoutCleanUp(const CaseFile& run) {
  constexpr int kOfSignals = 128;  // From here on a shell tells of a signal.
  const auto process = TrainingProcess(run);
  const bool ended_by_itself = run.ExitCode() && *run.ExitCode() < kOfSignals;
  // A shell hands on the status of its last command; of an earlier child it may as well have been a signal.
  const bool hands_on = run.start && (run.ExitCode() == 0 ? RunsOneCommand(run.start->command) : IsShell(run.start->command));
  const bool was_the_last = hands_on && !run.process_ends.empty() && run.process_ends.back().pid == process && !run.process_ends.back().end &&
                            run.process_ends.back().parent_pid == run.start->pid;
  const bool is_the_job = run.start && process == run.start->pid;
  const bool left_with_0 = run.ExitCode() == 0 &&
      std::any_of(run.process_ends.begin(), run.process_ends.end(), [&process](const ProcessEnd& ended) {
        return ended.pid == process && ended.end && ended.end->exit_code() == 0;
      });
  return process && ended_by_itself && !FindShellNotice(run) && (is_the_job || was_the_last || left_with_0) && !run.job_alive && run.drops.empty() &&
         FindEndingException(run) == nullptr && LastOfTraining(run, "process-exit") == nullptr;
}

double ShareOfPlanDone(const CaseFile& run) {
  const Account account = ReadAccount(run);
  const Progress& seen = run.progress;
  const double by_counter = seen.step && seen.steps_planned && *seen.steps_planned > 0
                                ? static_cast<double>(*seen.step) / static_cast<double>(*seen.steps_planned)
                                : 0;
  const double by_steps = std::max(account.steps.Share(), by_counter);
  // An epoch that has begun counts as one; how far it came is for its steps to say.
  const double one_epoch = account.epochs.planned && *account.epochs.planned > 0 ? 1 / *account.epochs.planned : 0;
  const bool same = by_steps > 0 && account.epochs.Share() - by_steps <= one_epoch;
  return same ? by_steps : std::max(account.epochs.Share(), by_steps);
}

bool EndedByItsStepBudget(const CaseFile& run, const Account& account) {
  constexpr double kMiddle = 0.05;  // Of an epoch; a last batch that fills no step leaves less.
  return account.steps.told_by == "framework" && run.progress.epoch && run.progress.epochs_planned &&
         *run.progress.epoch < *run.progress.epochs_planned - kMiddle;
}

}  // namespace whystop
