#include <algorithm>

#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/early_stop.h"
#include "sign/framework_stop.h"
#include "sign/learning.h"
#include "sign/loop_exit.h"

namespace whystop {

void WeighFinishedEarlyByDesign(const CaseFile& run, Hypothesis& out) {
  if (!StoppedAfterItsBest(run)) {
    return;
  }
  const Observation* stop = FrameworkStop(run);
  if (stop == nullptr && FinalExit(run) == nullptr) {
    const auto said = std::find_if(run.log_facts.begin(), run.log_facts.end(),
                                   [](const LogFact& fact) { return fact.cause == "early-stop-patience"; });
    out.Add({.weight = Evidence::Weight::kDecisive, .kind = "log-line", .text = said->line, .place = said->place});
    return;
  }
  Evidence evidence = Decisive(stop != nullptr ? "framework" : "loop",
                               stop != nullptr ? DescribeStop(*stop) : DescribeExit(*FinalExit(run)) + DescribeTurn(*FinalExit(run)));
  evidence.place = PlaceOf(stop != nullptr ? *stop : *FinalExit(run));
  out.Add(std::move(evidence));
  out.Add(Supports("series", "nothing had got better for as long as it waits: " + LearningOf(run).text));
}

}  // namespace whystop
