#include <algorithm>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/framework_stop.h"
#include "sign/left_by_exception.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"
#include "sign/swallowed_error.h"

namespace whystop {
namespace {

std::string NameOf(const SwallowedError& error) {
  const std::string first_line = error.message.substr(0, error.message.find('\n'));
  return error.type + (first_line.empty() ? "" : ": " + first_line);
}

std::string DescribeHandlerExit(const CaseFile& run, const SwallowedError& error) {
  const auto cut = ReadAccount(run).cut_passes;
  return NameOf(error) + ", caught in " + HumanCount(cut->cut) +
         " passes over the data, each of which ended there after " + HumanNumber(cut->batches_done) +
         " of " + HumanNumber(cut->batches_planned) + " batches: " + DescribeExit(*error.seen);
}

std::string DescribeLoader(const CaseFile& run, const SwallowedError& error) {
  const auto cut = ReadAccount(run).cut_passes;
  const auto failed = OfTraining(run, "call-failed");
  const auto times = std::count_if(failed.begin(), failed.end(), [](const Observation* one) {
    return As<seen::CallFailed>(*one).call == "data loader";
  });
  return NameOf(error) + ", raised by the data loader in " + HumanCount(times) +
         " passes and caught each time; of every pass about " + HumanNumber(cut->batches_done) + " of " +
         HumanNumber(cut->batches_planned) + " batches were taken";
}

std::string DescribeAgain(const CaseFile& run, const SwallowedError& error) {
  return NameOf(error) + ", caught at least " + HumanNumber(TimesCaught(run)) +
         " times by `except " + As<seen::ExceptionCaught>(*error.seen).handler.value_or("") + "` while " +
         HumanNumber(OrZero(CountsOf(run).steps)) + " steps were made" +
         (CutsPassesShort(run) ? "; each time the rest of the epoch was left out" : "");
}

std::string Describe(const CaseFile& run, const SwallowedError& error) {
  switch (error.at) {
    case SwallowedAt::kFrameworkCall:
      return NameOf(error) + ", raised out of " + As<seen::FrameworkFailed>(*error.seen).call.value_or("") +
             DescribeFrameworkEpoch(*error.seen) + "; the program caught it and ended with 0";
    case SwallowedAt::kHandlerExit:
      return DescribeHandlerExit(run, error);
    case SwallowedAt::kLoader:
      return DescribeLoader(run, error);
    case SwallowedAt::kCall:
      return NameOf(error) + ", raised in the " + As<seen::CallFailed>(*error.seen).call.value_or("") +
             "; the loops were left with it, and the program went on";
    case SwallowedAt::kEveryCall:
      return NameOf(error) + ", raised in the " + As<seen::CallFailed>(*error.seen).call.value_or("") +
             " again and again and caught each time; after " + HumanCount(error.seen->step.value_or(0)) +
             " steps no more were made";
    case SwallowedAt::kAgain:
      return DescribeAgain(run, error);
    case SwallowedAt::kLoop:
      break;
  }
  return NameOf(error) + ", caught and hidden by " + DescribeExit(*error.seen) + DescribeTurn(*error.seen);
}

void Tell(const CaseFile& run, const SwallowedError& error, Hypothesis& out) {
  Evidence evidence = Decisive(error.at == SwallowedAt::kFrameworkCall ? "framework" : "loop", Describe(run, error));
  if (error.at != SwallowedAt::kLoader && error.at != SwallowedAt::kAgain && error.at != SwallowedAt::kCall &&
      error.at != SwallowedAt::kEveryCall) {
    evidence.place = PlaceOf(*error.seen);
  }
  out.Add(std::move(evidence));
}

/// Nobody saw the exception, but nothing else can have ended the passes.
bool WeighByElimination(const CaseFile& run, Hypothesis& out) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || cut->exit != nullptr || cut->caught != nullptr ||
      WhatCut(run, *cut) != CutBy::kException) {
    return false;
  }
  const Observation* plan = PlanOfBatches(run, *cut);
  const auto plan_seen = As<seen::LoopPlan>(plan);
  const std::string handler = plan_seen.only_exit.value_or("");
  out.Add(Decisive("loop", "of every pass over the data about " + HumanNumber(cut->batches_done) + " of " +
                               HumanNumber(cut->batches_planned) + " batches were taken, in " +
                               HumanCount(cut->cut) + " passes, and " +
                               (handler.empty() ? std::string("no statement leaves the batch loop: an exception did, "
                                                              "and was caught around it")
                                                : "the only way out of the batch loop is the one under `" + handler +
                                                      "` at line " + plan_seen.exit_lines.value_or(""))));
  return true;
}

/// The loops have no way out and were left before their end.
bool WeighUnseen(const CaseFile& run, Hypothesis& out) {
  const auto kept = LeftByAnException(run);
  if (!kept) {
    return false;
  }
  out.Add(Supports("loop", DescribePlanKept(*kept) + "; nothing in the loops leaves them, and the program went on"));
  out.Add(Supports("exit-status",
                   "it ended with 0 and without a traceback: an exception was caught outside of "
                   "the loop, or a call inside it ended the program"));
  return true;
}

}  // namespace

void WeighSwallowedException(const CaseFile& run, Hypothesis& out) {
  const auto error = FindSwallowedError(run);
  const bool in_loop = error && (error->at == SwallowedAt::kLoop || error->at == SwallowedAt::kAgain);
  if (error && !in_loop) {
    Tell(run, *error, out);
    return;
  }
  if (WeighByElimination(run, out)) {
    return;
  }
  if (error && error->at == SwallowedAt::kLoop) {
    Tell(run, *error, out);
  } else if (!WeighUnseen(run, out) && error) {
    Tell(run, *error, out);
  }
}

}  // namespace whystop
