#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/exception_facts.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"

namespace whystop {
namespace {

/// The framework's own account: it knows whose turn it was, also where the program caught the error
/// and went on. A later training makes it an old story.
bool WeighFailedCall(const CaseFile& run, Hypothesis& out) {
  const Observation* failed = LastFailedCall(run);
  const auto failed_seen = As<seen::FrameworkFailed>(failed);
  if (failed == nullptr || failed_seen.callback.value_or("").empty()) {
    return false;
  }
  const bool caught = run.ExitCode() == 0;
  Evidence evidence = Decisive(
      "framework", failed_seen.type.value_or("") + ": " + failed_seen.message.value_or("") +
                       ", raised by the callback " + failed_seen.callback.value_or("") +
                       (failed_seen.function.value_or("").empty() ? "" : "." + failed_seen.function.value_or("")) +
                       DescribeFrameworkEpoch(*failed) +
                       (caught ? "; the program caught it and went on" : ""));
  evidence.place = PlaceOf(*failed);
  out.Add(std::move(evidence));
  return true;
}

}  // namespace

void WeighCallbackException(const CaseFile& run, Hypothesis& out) {
  if (WeighFailedCall(run, out)) {
    return;
  }
  const ExceptionSeen* last = FindEndingException(run);
  if (last == nullptr) {
    return;
  }
  for (const Frame& frame : last->frames) {
    if (frame.users_own && frame.function.starts_with("on_")) {
      Evidence evidence = Decisive(
          "exception", DescribeException(*last) + ", inside the callback " + frame.function);
      evidence.place = {frame.file, frame.line};
      out.Add(std::move(evidence));
      return;
    }
  }
}

}  // namespace whystop
