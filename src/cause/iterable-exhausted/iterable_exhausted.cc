#include "cause/evidence.h"
#include "cause/exception_facts.h"
#include "cause/loop_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighIterableExhausted(const CaseFile& run, Hypothesis& out) {
  if (const ExceptionSeen* last = FindEndingException(run);
      last != nullptr && last->type == "StopIteration") {
    out.Add(Decisive("exception", DescribeException(*last) + ": next() found nothing more"));
    return;
  }
  const Observation* exit = run.FindObservation("loop-exit");
  if (exit == nullptr || ErrorOf(*exit) != "StopIteration") {
    return;
  }
  Evidence evidence = Decisive("loop", "next() found nothing more: StopIteration, and " +
                                           DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = {TextOf(*exit, "file"), static_cast<std::int64_t>(NumberOf(*exit, "line"))};
  out.Add(std::move(evidence));
}

}  // namespace whystop
