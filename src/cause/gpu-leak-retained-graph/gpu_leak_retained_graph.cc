#include <algorithm>
#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

// A sum over one epoch is freed at its end; one that is longer than an epoch is not. Where the
// epochs are not known, hundreds are long.
constexpr double kGraphsMin = 100;

/// Steps in the largest loader's epoch, or in the mean one; 0: not known.
double StepsOfAnEpoch(const CaseFile& run) {
  const double epochs = run.progress.epochs_planned.value_or(0);
  double most = epochs > 1 ? Counted(run, "steps").value_or(0) / epochs : 0;
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    most = std::max(most, NumberOf(*loader, "batches"));
  }
  return most;
}

}  // namespace

void WeighGpuLeakRetainedGraph(const CaseFile& run, Hypothesis& out) {
  const Observation* worst = nullptr;
  for (const Observation* kept : ObservationsOf(run, "retained-graph")) {
    worst = worst == nullptr || NumberOf(*kept, "depth") > NumberOf(*worst, "depth") ? kept : worst;
  }
  if (worst == nullptr) {
    return;
  }
  const double depth = NumberOf(*worst, "depth");
  const bool climbs = run.FindFirst("memory/climbs") != nullptr ||
                      run.FindLog("cuda-oom", LogFact::Role::kRoot) != nullptr;
  const double epoch = StepsOfAnEpoch(run);
  if (!climbs && (epoch > 0 ? depth <= 1.5 * epoch : depth < kGraphsMin)) {
    return;
  }
  const std::string name = TextOf(*worst, "variable");
  const bool list = TextOf(*worst, "how") == "list";
  Evidence evidence = Decisive(
      "loop", "`" + name + "` in " + TextOf(*worst, "function") + " keeps the graphs of at least " +
                  HumanNumber(depth) + " earlier steps alive, with all their activations (" +
                  (list ? "a list of tensors that still carry their history"
                        : "a sum of tensors that still carry their history") +
                  ")");
  evidence.place = {TextOf(*worst, "file"), 0};
  out.Add(std::move(evidence));
  out.Fix(list ? name + ".append(... .item()), or .detach() what you collect"
               : name + " += loss.item(), not the loss itself");
}

}  // namespace whystop
