#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "cause/evidence.h"
#include "cause/hang_weighers.h"
#include "model/observations.h"

namespace whystop {
namespace {

/// The number of the loader on whose batches most steps were made: not the one for evaluation.
std::optional<std::int64_t> TrainingLoader(const CaseFile& run) {
  std::optional<std::int64_t> best;
  std::int64_t most = -1;
  for (const Observation& seen : run.observations) {
    if (seen.kind == "passes") {
      const auto account = As<seen::Passes>(seen);
      if (account.steps.value_or(0) > most) {
        most = account.steps.value_or(0);
        best = account.loader;
      }
    }
  }
  return best;
}

/// "the loader of TrainData, batches of 4, has 2 workers"
std::string LoaderText(const CaseFile& run) {
  const auto number = TrainingLoader(run);
  for (const Observation& seen : run.observations) {
    const auto loader = seen.kind == "loader" ? As<seen::Loader>(seen) : seen::Loader{};
    if (!loader.workers || (number && loader.loader != number)) {
      continue;
    }
    return fmt::format("the loader of {}{} has {} worker{}", loader.dataset.value_or("its data"),
                       loader.batch_size ? fmt::format(", batches of {},", *loader.batch_size) : "",
                       *loader.workers == 0 ? "no" : std::to_string(*loader.workers), *loader.workers == 1 ? "" : "s");
  }
  return {};
}

}  // namespace

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
  if (const std::string loader = LoaderText(run); !loader.empty()) {
    out.Add(Supports("series", loader));
  }
}

}  // namespace whystop
