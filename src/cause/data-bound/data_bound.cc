#include <fmt/format.h>

#include <algorithm>

#include "cause/evidence.h"
#include "cause/hang_weighers.h"

namespace whystop {

void WeighDataBound(const CaseFile& run, Hypothesis& out) {
  const Finding* waited = run.FindFirst("data/waited-for");
  if (waited == nullptr) {
    return;
  }
  const double share = waited->Number("share").value_or(0);
  const auto gpus = run.FindAll(Quantity::kGpuUtilisationPercent);
  const bool has_gpu = std::any_of(gpus.begin(), gpus.end(),
                                   [](const ReadingHistory* gpu) { return gpu->max > 0; });
  constexpr double kShareWithoutGpu = 0.8;
  if (!has_gpu && share < kShareWithoutGpu) {
    return;  // Nothing expensive waits.
  }
  out.Add(Supports("series",
                   fmt::format("{:.0f} % of the time between steps went into waiting for the next "
                               "batch",
                               100 * share),
                   waited->facts));
  const Observation* loader = run.FindObservation("loader");
  const auto workers = loader == nullptr ? std::nullopt : loader->Number("workers");
  if (workers) {
    out.Add(Supports("series", fmt::format("its data loader has {:.0f} workers", *workers)));
  }
}

}  // namespace whystop
