#include <algorithm>

#include "base/human.h"
#include "sign/account/account.h"
#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// An exception left the framework's training, and the program lived on with less than it planned.
bool WeighFailedCall(const CaseFile& run, Hypothesis& out) {
  const Observation* failed = LastFailedCall(run);
  if (failed == nullptr || run.ExitCode() != 0 || !TextOf(*failed, "callback").empty()) {
    return false;
  }
  Evidence evidence =
      Decisive("framework", TextOf(*failed, "type") + ": " + TextOf(*failed, "message") +
                                ", raised out of " + TextOf(*failed, "call") +
                                DescribeFrameworkEpoch(*failed) + "; the program caught it and ended with 0");
  evidence.place = PlaceOf(*failed);
  out.Add(std::move(evidence));
  return true;
}

/// Whether the exceptions that were caught ended passes over the data: as the probe saw it, or, in older recordings, by
/// the level of the loop whose `except` took them.
bool CutPassesShort(const CaseFile& run, const std::vector<const Observation*>& caught) {
  const Observation* plan = LastOfTraining(run, "loop-plan");
  const double innermost = plan == nullptr ? 0 : NumberOf(*plan, "levels") - 1;
  const auto cut = std::count_if(caught.begin(), caught.end(), [innermost](const Observation* one) {
    const auto known = one->Number("cut");
    return known ? *known != 0 : NumberOf(*one, "level") < innermost;
  });
  return cut >= 2;
}

bool InTheBatchLoop(const CaseFile& run, const Observation& caught) {
  const Observation* plan = LastOfTraining(run, "loop-plan");
  return plan == nullptr || NumberOf(caught, "level") >= NumberOf(*plan, "levels") - 1;
}

/// The batch loop is left by a statement of an `except`, epoch after epoch.
bool WeighLeftInHandler(const CaseFile& run, Hypothesis& out) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || cut->exit == nullptr || ErrorOf(*cut->exit).empty()) {
    return false;
  }
  const std::string message = TextOf(*cut->exit, "error_message");
  Evidence evidence = Decisive(
      "loop", ErrorOf(*cut->exit) + (message.empty() ? "" : ": " + message) + ", caught in " +
                  HumanCount(cut->cut) + " passes over the data, each of which ended there after " +
                  HumanNumber(cut->batches_done) + " of " + HumanNumber(cut->batches_planned) +
                  " batches: " + DescribeExit(*cut->exit));
  evidence.place = PlaceOf(*cut->exit);
  out.Add(std::move(evidence));
  return true;
}

/// The loader raises in pass after pass, and the program goes on: whoever caught it, the rest of the data was left out.
bool WeighLoaderFailures(const CaseFile& run, Hypothesis& out) {
  const auto cut = ReadAccount(run).cut_passes;
  std::vector<const Observation*> failed = OfTraining(run, "call-failed");
  std::erase_if(failed, [](const Observation* one) { return TextOf(*one, "call") != "data loader"; });
  if (!cut || failed.size() < 2 || run.ExitCode() != 0) {
    return false;
  }
  const std::string message = TextOf(*failed.back(), "message");
  out.Add(Decisive("loop", TextOf(*failed.back(), "type") + ": " + message.substr(0, message.find('\n')) +
                               ", raised by the data loader in " + HumanCount(static_cast<std::int64_t>(failed.size())) +
                               " passes and caught each time; of every pass about " + HumanNumber(cut->batches_done) +
                               " of " + HumanNumber(cut->batches_planned) + " batches were taken"));
  return true;
}

/// Nobody saw the exception, but nothing else can have ended the passes.
bool WeighByElimination(const CaseFile& run, Hypothesis& out) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || cut->exit != nullptr || cut->caught != nullptr ||
      WhatCut(run, *cut) != CutBy::kException) {
    return false;
  }
  const Observation* plan = PlanOfBatches(run, *cut);
  const std::string handler = TextOf(*plan, "only_exit");
  out.Add(Decisive("loop", "of every pass over the data about " + HumanNumber(cut->batches_done) + " of " +
                               HumanNumber(cut->batches_planned) + " batches were taken, in " +
                               HumanCount(cut->cut) + " passes, and " +
                               (handler.empty() ? std::string("no statement leaves the batch loop: an exception did, "
                                                              "and was caught around it")
                                                : "the only way out of the batch loop is the one under `" + handler +
                                                      "` at line " + TextOf(*plan, "exit_lines"))));
  return true;
}

}  // namespace

void WeighSwallowedException(const CaseFile& run, Hypothesis& out) {
  if (WeighFailedCall(run, out)) {
    return;
  }
  if (WeighLeftInHandler(run, out) || WeighLoaderFailures(run, out) ||
      WeighByElimination(run, out)) {
    return;
  }
  for (const Observation* exit : OfTraining(run, "loop-exit")) {
    const std::string error = ErrorOf(*exit);
    if (ReasonOf(exit) != ExitReason::kError || error == "StopIteration" ||
        error == "KeyboardInterrupt") {
      continue;
    }
    Evidence evidence = Decisive(
        "loop",
        error +
            (TextOf(*exit, "error_message").empty() ? "" : ": " + TextOf(*exit, "error_message")) +
            ", caught and hidden by " + DescribeExit(*exit) + DescribeTurn(*exit));
    evidence.place = PlaceOf(*exit);
    out.Add(std::move(evidence));
    return;
  }
  if (const auto kept = LeftByAnException(run)) {
    out.Add(Supports("loop", "the loops were to make " + HumanNumber(kept->planned) +
                                 " steps and made " + HumanNumber(kept->made) +
                                 "; nothing in them leaves them, and the program went on"));
    out.Add(Supports("exit-status",
                     "it ended with 0 and without a traceback: an exception was caught outside of "
                     "the loop, or a call inside it ended the program"));
    return;
  }
  const auto caught = OfTraining(run, "exception-caught");
  // Caught again and again with no step between: training is over, though the loop goes on.
  const auto stuck = std::count_if(caught.begin(), caught.end(), [&caught](const Observation* one) {
    return one->step && one->step == caught.back()->step;
  });
  const bool cuts_epochs = CutPassesShort(run, caught);
  // What is caught behind the batches, a failed upload say, costs no training.
  const bool beside = caught.size() >= 2 && !cuts_epochs &&
                      std::none_of(caught.begin(), caught.end(), [](const Observation* one) {
                        return !one->Number("cut");
                      }) &&
                      !InTheBatchLoop(run, *caught.back());
  if (beside) {
    return;
  }
  if (!cuts_epochs && stuck < 3 &&
      (caught.size() < 3 ||
       Counted(run, "steps").value_or(0) > 2 * static_cast<double>(caught.size()))) {
    return;  // A loop that skips a bad sample now and then is sound.
  }
  out.Add(
      Decisive("loop", TextOf(*caught.back(), "type") + ": " + TextOf(*caught.back(), "message") +
                           ", caught at least " + HumanNumber(static_cast<double>(caught.size())) +
                           " times by `except " + TextOf(*caught.back(), "handler") + "` while " +
                           HumanNumber(Counted(run, "steps").value_or(0)) + " steps were made" +
                           (cuts_epochs ? "; each time the rest of the epoch was left out" : "")));
}

}  // namespace whystop
