#include "cause/evidence.h"
#include "cause/exception_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighCallbackException(const CaseFile& run, Hypothesis& out) {
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
