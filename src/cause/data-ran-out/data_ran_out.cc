#include "cause/evidence.h"
#include "cause/loop_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighDataRanOut(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  // A `while` takes no data: its condition turned false.
  if (exit == nullptr || TextOf(*exit, "how") != "end" || !TextOf(*exit, "condition").empty()) {
    return;
  }
  const auto turn = exit->Number("turn");
  const auto planned = exit->Number("planned");
  if (turn && planned && *planned > 1 && *turn < 0.95 * *planned) {
    out.Add(Decisive("loop", "the loop ran out of data" + DescribeTurn(*exit)));
  }
}

}  // namespace whystop
