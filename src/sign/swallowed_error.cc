#include "sign/swallowed_error.h"

#include <algorithm>
#include <vector>

#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"

namespace whystop {
namespace {

SwallowedError Made(SwallowedAt at, const Observation& seen, const std::string& type, const std::string& message) {
  return {at, &seen, TextOf(seen, type), TextOf(seen, message)};
}

/// An exception left the framework's training, and the program lived on with less than it planned.
std::optional<SwallowedError> OutOfFramework(const CaseFile& run) {
  const Observation* failed = LastFailedCall(run);
  if (failed == nullptr || run.ExitCode() != 0 || !TextOf(*failed, "callback").empty()) {
    return std::nullopt;
  }
  return Made(SwallowedAt::kFrameworkCall, *failed, "type", "message");
}

std::optional<SwallowedError> LeftInHandler(const CaseFile& run) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || cut->exit == nullptr || ErrorOf(*cut->exit).empty()) {
    return std::nullopt;
  }
  return SwallowedError{SwallowedAt::kHandlerExit, cut->exit, ErrorOf(*cut->exit), TextOf(*cut->exit, "error_message")};
}

/// The loader raises in pass after pass, and the program goes on: whoever caught it, the rest of the data was left out.
std::optional<SwallowedError> OfLoader(const CaseFile& run) {
  const auto cut = ReadAccount(run).cut_passes;
  std::vector<const Observation*> failed = OfTraining(run, "call-failed");
  std::erase_if(failed, [](const Observation* one) { return TextOf(*one, "call") != "data loader"; });
  if (!cut || failed.size() < 2 || run.ExitCode() != 0) {
    return std::nullopt;
  }
  return Made(SwallowedAt::kLoader, *failed.back(), "type", "message");
}

/// The exception went on to end the process: nobody hid it. The message is compared as far as both were kept.
bool EndedTheProcess(const CaseFile& run, const Observation& exit) {
  const std::string message = TextOf(exit, "error_message");
  return std::any_of(run.exceptions.begin(), run.exceptions.end(), [&](const ExceptionSeen& one) {
    const std::size_t dot = one.type.rfind('.');
    const std::string type = dot == std::string::npos ? one.type : one.type.substr(dot + 1);
    const std::size_t kept = std::min({message.size(), one.message.size(), std::size_t{200}});
    return one.ended_process && type == ErrorOf(exit) && (!one.process || !exit.process || one.process == exit.process) &&
           one.message.compare(0, kept, message, 0, kept) == 0;
  });
}

std::optional<SwallowedError> OutOfLoop(const CaseFile& run) {
  for (const Observation* exit : OfTraining(run, "loop-exit")) {
    const std::string error = ErrorOf(*exit);
    const bool another_end = error == "StopIteration" || error == "KeyboardInterrupt" || error == "SystemExit";
    if (ReasonOf(exit) == ExitReason::kError && !another_end && !EndedTheProcess(run, *exit)) {
      return SwallowedError{SwallowedAt::kLoop, exit, error, TextOf(*exit, "error_message")};
    }
  }
  return std::nullopt;
}

/// Nobody saw the loops left, but the last thing that was seen of them is a call that failed.
std::optional<SwallowedError> OutOfCall(const CaseFile& run) {
  const Observation* failed = LastOfTraining(run, "call-failed");
  const Observation* counted = LastOfTraining(run, "counts");
  const bool last = failed != nullptr && counted != nullptr && failed->step && failed->step == counted->step;
  if (!last || TextOf(*failed, "type") == "SystemExit" || !LeftByAnException(run)) {
    return std::nullopt;
  }
  return Made(SwallowedAt::kCall, *failed, "type", "message");
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
    return one->step != last.step || TextOf(*one, "call") != TextOf(last, "call");
  });
  return failed.size() < kTimes ? std::nullopt : std::optional(Made(SwallowedAt::kEveryCall, last, "type", "message"));
}

bool InTheBatchLoop(const CaseFile& run, const Observation& caught) {
  const Observation* plan = LastOfTraining(run, "loop-plan");
  return plan == nullptr || NumberOf(caught, "level") >= NumberOf(*plan, "levels") - 1;
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
                        return !one->Number("cut");
                      }) &&
                      !InTheBatchLoop(run, *caught.back());
  // A loop that skips a bad sample now and then is sound.
  const bool now_and_then =
      !cuts_epochs && stuck < 3 &&
      (caught.size() < 3 || Counted(run, "steps").value_or(0) > 2 * static_cast<double>(caught.size()));
  return beside || now_and_then
             ? std::nullopt
             : std::optional(Made(SwallowedAt::kAgain, *caught.back(), "type", "message"));
}

}  // namespace

/// As the probe saw it, or, in older recordings, by the level of the loop whose `except` took them.
bool CutsPassesShort(const CaseFile& run) {
  const auto caught = OfTraining(run, "exception-caught");
  const Observation* plan = LastOfTraining(run, "loop-plan");
  const double innermost = plan == nullptr ? 0 : NumberOf(*plan, "levels") - 1;
  const auto cut = std::count_if(caught.begin(), caught.end(), [innermost](const Observation* one) {
    const auto known = one->Number("cut");
    return known ? *known != 0 : NumberOf(*one, "level") < innermost;
  });
  return cut >= 2;
}

std::optional<SwallowedError> FindSwallowedError(const CaseFile& run) {
  for (const auto find : {&OutOfFramework, &LeftInHandler, &OfLoader, &OutOfLoop, &OutOfCall, &OutOfEveryCall, &CaughtAgain}) {
    if (auto found = find(run)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace whystop
