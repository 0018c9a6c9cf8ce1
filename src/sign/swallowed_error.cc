#include "sign/swallowed_error.h"

#include <algorithm>
#include <vector>

#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/left_by_exception.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"

namespace whystop {
namespace {

template <typename Kind>
SwallowedError Made(SwallowedAt at, const Observation& seen) {
  const auto told = As<Kind>(seen);
  return {at, &seen, told.type.value_or(""), told.message.value_or("")};
}

/// An exception left the framework's training, and the program lived on with less than it planned.
std::optional<SwallowedError> OutOfFramework(const CaseFile& run) {
  const Observation* failed = LastFailedCall(run);
  if (failed == nullptr || run.ExitCode() != 0 || !As<seen::FrameworkFailed>(*failed).callback.value_or("").empty()) {
    return std::nullopt;
  }
  return Made<seen::FrameworkFailed>(SwallowedAt::kFrameworkCall, *failed);
}

std::optional<SwallowedError> LeftInHandler(const CaseFile& run) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || cut->exit == nullptr || ErrorOf(*cut->exit).empty()) {
    return std::nullopt;
  }
  return SwallowedError{SwallowedAt::kHandlerExit, cut->exit, ErrorOf(*cut->exit), As<seen::LoopExit>(cut->exit).error_message.value_or("")};
}

/// The loader raises in pass after pass, and the program goes on: whoever caught it, the rest of the data was left out.
std::optional<SwallowedError> OfLoader(const CaseFile& run) {
  const auto cut = ReadAccount(run).cut_passes;
  std::vector<const Observation*> failed = OfTraining(run, "call-failed");
  std::erase_if(failed, [](const Observation* one) { return As<seen::CallFailed>(*one).call != "data loader"; });
  if (!cut || failed.size() < 2 || run.ExitCode() != 0) {
    return std::nullopt;
  }
  return Made<seen::CallFailed>(SwallowedAt::kLoader, *failed.back());
}

/// The exception went on to end the process: nobody hid it. The message is compared as far as both were kept.
bool EndedTheProcess(const CaseFile& run, const Observation& exit) {
  const std::string message = As<seen::LoopExit>(exit).error_message.value_or("");
  return std::any_of(run.exceptions.begin(), run.exceptions.end(), [&](const ExceptionSeen& one) {
    const std::size_t dot = one.type.rfind('.');
    const std::string type = dot == std::string::npos ? one.type : one.type.substr(dot + 1);
    const std::size_t kept = std::min({message.size(), one.message.size(), std::size_t{200}});
    return one.ended_process && type == ErrorOf(exit) && (!one.process || !exit.process || one.process == exit.process) &&
           one.message.compare(0, kept, message, 0, kept) == 0;
  });
}

/// A loop that was over before the first step of the optimizer tried something out, such as which batch fits: the training came after it.
bool CameBeforeTraining(const CaseFile& run, const Observation& exit) {
  const Observation* counted = LastOfTraining(run, "counts");
  return exit.step == 0 && counted != nullptr && As<seen::Counts>(*counted).steps.value_or(0) > 0;
}

/// A program without a framework: its loop has no other way out than a handler.
std::optional<SwallowedError> OutOfModuleLoop(const CaseFile& run) {
  const Observation* exit = FinalExit(run);
  const bool hidden = exit != nullptr && exit->kind == seen::ModuleLoopExit::kKind && ReasonOf(exit) == ExitReason::kError;
  return hidden ? std::optional(SwallowedError{SwallowedAt::kLoop, exit, ErrorOf(*exit), ""}) : std::nullopt;
}

std::optional<SwallowedError> OutOfLoop(const CaseFile& run) {
  for (const Observation* exit : OfTraining(run, "loop-exit")) {
    const std::string error = ErrorOf(*exit);
    const bool another_end = error == "StopIteration" || error == "KeyboardInterrupt" || error == "SystemExit" ||
                             CameBeforeTraining(run, *exit);
    if (ReasonOf(exit) == ExitReason::kError && !another_end && !EndedTheProcess(run, *exit)) {
      return SwallowedError{SwallowedAt::kLoop, exit, error, As<seen::LoopExit>(*exit).error_message.value_or("")};
    }
  }
  return std::nullopt;
}

/// Nobody saw the loops left, but the last thing that was seen of them is a call that failed.
std::optional<SwallowedError> OutOfCall(const CaseFile& run) {
  const Observation* failed = LastOfTraining(run, "call-failed");
  const Observation* counted = LastOfTraining(run, "counts");
  const bool last = failed != nullptr && counted != nullptr && failed->step && failed->step == counted->step;
  if (!last || As<seen::CallFailed>(*failed).type == "SystemExit" || !LeftByAnException(run)) {
    return std::nullopt;
  }
  return Made<seen::CallFailed>(SwallowedAt::kCall, *failed);
}

/// The same call fails again and again with no step between: every batch is thrown away.
std::optional<SwallowedError> OutOfEveryCall(const CaseFile& run) {
  constexpr std::size_t kTimes = 3;
  std::vector<const Observation*> failed = OfTraining(run, "call-failed");
  if (failed.empty() || run.ExitCode() != 0) {
    return std::nullopt;
  }
  const Observation& last = *failed.back();
  std::erase_if(failed, [&last](const Observation* one) {
    return one->step != last.step || As<seen::CallFailed>(*one).call.value_or("") != As<seen::CallFailed>(last).call.value_or("");
  });
  return failed.size() < kTimes ? std::nullopt : std::optional(Made<seen::CallFailed>(SwallowedAt::kEveryCall, last));
}

bool InTheBatchLoop(const CaseFile& run, const Observation& caught) {
  const Observation* plan = LastOfTraining(run, "loop-plan");
  return plan == nullptr || OrZero(As<seen::ExceptionCaught>(caught).level) >= OrZero(As<seen::LoopPlan>(*plan).levels) - 1;
}

std::optional<SwallowedError> CaughtAgain(const CaseFile& run) {
  const auto caught = OfTraining(run, "exception-caught");
  if (caught.empty()) {
    return std::nullopt;
  }
  // Caught again and again with no step between: training is over, though the loop goes on.
  const auto stuck = std::count_if(caught.begin(), caught.end(), [&caught](const Observation* one) {
    return one->step && one->step == caught.back()->step;
  });
  const bool cuts_epochs = CutsPassesShort(run);
  // What is caught behind the batches, a failed upload say, costs no training.
  const bool beside = caught.size() >= 2 && !cuts_epochs &&
                      std::none_of(caught.begin(), caught.end(), [](const Observation* one) {
                        return !As<seen::ExceptionCaught>(*one).cut;
                      }) &&
                      !InTheBatchLoop(run, *caught.back());
  // A loop that skips a bad sample now and then is sound.
  const bool now_and_then =
      !cuts_epochs && stuck < 3 &&
      (caught.size() < 3 || OrZero(CountsOf(run).steps) > 2 * TimesCaught(run));
  return beside || now_and_then
             ? std::nullopt
             : std::optional(Made<seen::ExceptionCaught>(SwallowedAt::kAgain, *caught.back()));
}

}  // namespace

double TimesCaught(const CaseFile& run) {
  double times = static_cast<double>(OfTraining(run, "exception-caught").size());
  for (const Observation* one : OfTraining(run, "exception-caught")) {
    times = std::max(times, OrZero(As<seen::ExceptionCaught>(one).times));
  }
  return times;
}

/// As the probe saw it, or, in older recordings, by the level of the loop whose `except` took them.
bool CutsPassesShort(const CaseFile& run) {
  const auto caught = OfTraining(run, "exception-caught");
  const Observation* plan = LastOfTraining(run, "loop-plan");
  const double innermost = plan == nullptr ? 0 : OrZero(As<seen::LoopPlan>(*plan).levels) - 1;
  const auto cut = std::count_if(caught.begin(), caught.end(), [innermost](const Observation* one) {
    const auto one_seen = As<seen::ExceptionCaught>(one);
    return one_seen.cut ? *one_seen.cut : OrZero(one_seen.level) < innermost;
  });
  return cut >= 2;
}

std::optional<SwallowedError> FindSwallowedError(const CaseFile& run) {
  for (const auto find : {&OutOfFramework, &LeftInHandler, &OfLoader, &OutOfLoop, &OutOfModuleLoop, &OutOfCall, &OutOfEveryCall, &CaughtAgain}) {
    if (auto found = find(run)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace whystop
