#include "sign/policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "sign/series_view.h"

namespace whystop {
namespace {

bool HasEnvironment(const CaseFile& run) { return run.FindObservation("environment") != nullptr; }

/// What a policy earns. Its loss is no measure of it: it has no reason to fall. A "score" is that
/// of a game only where there is an environment.
bool IsReward(const CaseFile& run, std::string series) {
  std::transform(series.begin(), series.end(), series.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto names = [&series](std::string_view word) {
    return series.find(word) != std::string::npos;
  };
  return names("rew") || names("return") || names("epret") || names("fitness") ||
         (names("score") && HasEnvironment(run));
}

/// The reward that says most: one that rose, else the one with the most points; nullptr: none was
/// seen.
const Finding* BestReward(const CaseFile& run) {
  const Finding* best = nullptr;
  const auto points = [](const Finding& of) { return of.Number("points").value_or(0); };
  for (const Finding& finding : run.findings) {
    const bool is_score = finding.detector == "loss/trend" &&
                          FactText(finding, "role").find("score") != std::string::npos;
    if (!is_score || !IsReward(run, finding.series)) {
      continue;
    }
    const bool better = best == nullptr || (Improved(&finding) && !Improved(best)) ||
                        (Improved(&finding) == Improved(best) && points(finding) > points(*best));
    best = better ? &finding : best;
  }
  return best;
}

}  // namespace

bool EarnsReward(const CaseFile& run) { return BestReward(run) != nullptr || HasEnvironment(run); }

LearningView LearningOfAPolicy(const CaseFile& run) {
  const Finding* reward = BestReward(run);
  const Finding* loss = BestOf(run, "train-loss");
  if (loss != nullptr && loss->Number("not_finite_at_end").value_or(0) > 0) {
    return View(*loss, Learning::kDiverged);
  }
  if (reward == nullptr) {
    return {Learning::kUnknown, nullptr,
            "an environment was used, and the loss of a policy need not fall; the return of its "
            "episodes, printed or logged, would tell"};
  }
  if (Improved(reward)) {
    return View(*reward, StateOf(*reward));
  }
  LearningView view = View(*reward, Learning::kUnknown);
  view.text = fmt::format("{} {} over {} points (best {:.4g}): no gain beyond its "
                          "noise so far, and the loss of a policy says nothing about it",
                          reward->series, DescribeEnds(*reward), reward->Number("points").value_or(0),
                          reward->Number("best").value_or(0));
  return view;
}

}  // namespace whystop
