#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/hang_facts.h"
#include "cause/hang_weighers.h"
#include "model/observations.h"

namespace whystop {

/// The looks at a job that was silent, or is alive now, found a compiler at work, and no step came since.
void WeighCompileOrWarmup(const CaseFile& run, Hypothesis& out) {
  const Observation* moving = run.FindObservation("moving");
  if (moving == nullptr) {
    return;
  }
  const auto told = As<seen::Moving>(*moving);
  const bool went_on = std::any_of(run.steps.begin(), run.steps.end(), [&told](const ProcessSteps& steps) {
    return steps.last > told.furthest.value_or(0);
  }) && !told.live.value_or(false);
  constexpr double kIdleShareMax = 0.1;  // Of one core: then nobody compiles, whatever the stacks say.
  if (went_on || told.cpu_share.value_or(0) <= kIdleShareMax) {
    return;
  }
  for (const Observation& observation : run.observations) {
    const auto look = observation.kind == "look" && As<seen::Look>(observation).episode == told.episode
                          ? ToProcessLook(observation)
                          : std::nullopt;
    const auto compiler = look ? CompilerIn(*look) : std::nullopt;
    if (!compiler) {
      continue;
    }
    const ThreadLook* main = look->MainThread();
    const Frame* own = main == nullptr ? nullptr : InnermostOwn(main->frames);
    Evidence evidence =
        Decisive("look", fmt::format("it is not stuck: {} compiles in process {}{}; all processes together use {:.0f} % of a core",
                                     *compiler, look->pid, own == nullptr ? "" : ", for " + PlaceText(*own),
                                     100 * told.cpu_share.value_or(0)));
    if (own != nullptr) {
      evidence.place = {own->file, own->line};
    }
    out.Add(std::move(evidence));
    return;
  }
}

}  // namespace whystop
