#include <algorithm>
#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {
namespace {

// A sum over one epoch is freed at its end; one that is longer than an epoch is not. Where the
// epochs are not known, hundreds are long.
constexpr double kGraphsMin = 100;

/// It is told again whenever it has doubled: what was not for four times as many steps is begun anew now and then.
bool Rests(const CaseFile& run, const Observation& kept) {
  constexpr double kTimes = 4;
  constexpr double kToldAtMost = 256;  // A sum's depth is not counted further.
  const double depth = OrZero(As<seen::RetainedGraph>(kept).depth);
  return kept.step && depth < kToldAtMost && OrZero(CountsOf(run).steps) - static_cast<double>(*kept.step) > kTimes * depth;
}

/// Steps in the largest loader's epoch, or in the mean one; 0: not known.
double StepsOfAnEpoch(const CaseFile& run) {
  const double epochs = run.progress.epochs_planned.value_or(0);
  double most = epochs > 1 ? OrZero(CountsOf(run).steps) / epochs : 0;
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    most = std::max(most, OrZero(As<seen::Loader>(*loader).batches));
  }
  return most;
}

}  // namespace

void WeighGpuLeakRetainedGraph(const CaseFile& run, Hypothesis& out) {
  const Observation* worst = nullptr;
  for (const Observation* kept : ObservationsOf(run, "retained-graph")) {
    worst = worst == nullptr || OrZero(As<seen::RetainedGraph>(*kept).depth) > OrZero(As<seen::RetainedGraph>(*worst).depth) ? kept : worst;
  }
  if (worst == nullptr || Rests(run, *worst)) {
    return;
  }
  const auto worst_seen = As<seen::RetainedGraph>(worst);
  const double depth = OrZero(worst_seen.depth);
  const bool climbs = run.FindFirst("memory/climbs") != nullptr ||
                      run.FindLog("cuda-oom", LogFact::Role::kRoot) != nullptr;
  const double epoch = StepsOfAnEpoch(run);
  if (!climbs && (epoch > 0 ? depth <= 1.5 * epoch : depth < kGraphsMin)) {
    return;
  }
  const std::string name = worst_seen.variable.value_or("");
  const bool list = worst_seen.how == "list";
  Evidence evidence = Decisive(
      "loop", "`" + name + "` in " + worst_seen.function.value_or("") + " keeps the graphs of at least " +
                  HumanNumber(depth) + " earlier steps alive, with all their activations (" +
                  (list ? "a list of tensors that still carry their history"
                        : "a sum of tensors that still carry their history") +
                  ")");
  evidence.place = {worst_seen.file.value_or(""), 0};
  out.Add(std::move(evidence));
  out.Fix(list ? name + ".append(... .item()), or .detach() what you collect"
               : name + " += loss.item(), not the loss itself");
}

}  // namespace whystop
