#include "sign/series_view.h"

#include <fmt/core.h>

#include <utility>

namespace whystop {

const Finding* BestOf(const CaseFile& run, std::string_view role) {
  const Finding* best = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector != "loss/trend" || FactText(finding, "role") != role) {
      continue;
    }
    const bool better =
        best == nullptr || finding.Number("rank") < best->Number("rank") ||
        (finding.Number("rank") == best->Number("rank") &&
         finding.Number("points").value_or(0) + finding.Number("not_finite").value_or(0) >
             best->Number("points").value_or(0) + best->Number("not_finite").value_or(0));
    best = better ? &finding : best;
  }
  return best;
}

Learning StateOf(const Finding& finding) {
  constexpr std::pair<std::string_view, Learning> kStates[] = {
      {"improving", Learning::kImproving},
      {"converged", Learning::kConverged},
      {"stalled", Learning::kStalled},
      {"diverged", Learning::kDiverged},
      {"never-learned", Learning::kNeverLearned},
  };
  const std::string state = FactText(finding, "state");
  for (const auto& [name, learning] : kStates) {
    if (name == state) {
      return learning;
    }
  }
  return Learning::kUnknown;
}

bool Improved(const Finding* series) {
  return series != nullptr && (StateOf(*series) == Learning::kImproving || StateOf(*series) == Learning::kConverged);
}

const Finding* BestScore(const CaseFile& run) {
  const Finding* train = BestOf(run, "train-score");
  const Finding* score = train != nullptr ? train : BestOf(run, "validation-score");
  if (score == nullptr || Improved(score)) {
    return score;
  }
  const std::string role = FactText(*score, "role");
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && FactText(finding, "role") == role && Improved(&finding) &&
        finding.Number("rank") == score->Number("rank")) {
      return &finding;
    }
  }
  return score;
}

std::string DescribeEnds(const Finding& finding) {
  const auto shown = [&finding](const char* fact) { return fmt::format("{:.4g}", finding.Number(fact).value_or(0)); };
  const std::string text = shown("first") + " -> " + shown("last");
  const bool own_last = !finding.Number("last_value") || shown("last") == shown("last_value");
  const bool own_first = !finding.Number("first_value") || shown("first") == shown("first_value");
  return own_last ? text + (own_first ? "" : " (smoothed)") : text + " (smoothed; the last is " + shown("last_value") + ")";
}

std::string Describe(const Finding& finding, Learning state) {
  const double points = finding.Number("points").value_or(0);
  const double bad_at_end = finding.Number("not_finite_at_end").value_or(0);
  if (points == 0) {
    return fmt::format("{} was never a finite number ({} points)", finding.series,
                       finding.Number("not_finite").value_or(0));
  }
  if (finding.Number("identical").value_or(0) != 0) {
    return fmt::format("{} was {:.6g} at each of {} points, to the last digit: nothing changes",
                       finding.series, finding.Number("last").value_or(0), points);
  }
  const double begin = finding.Number("begin").value_or(0);
  // The level of the start leaves out what was soon lost.
  const bool lost_its_start = state == Learning::kDiverged && FactText(finding, "role").ends_with("-loss") &&
                              begin < finding.Number("best").value_or(0);
  std::string text =
      fmt::format("{} {} over {} points", finding.series,
                  lost_its_start ? fmt::format("{:.4g} -> {:.4g}", begin, finding.Number("last").value_or(0)) : DescribeEnds(finding), points);
  if (bad_at_end > 0) {
    return text + fmt::format(", then not a finite number ({} points at the end)", bad_at_end);
  }
  switch (state) {
    case Learning::kImproving:
      return text + ", still improving at the end";
    case Learning::kConverged:
      return text +
             fmt::format(", level at the end (best {:.4g})", finding.Number("best").value_or(0));
    case Learning::kStalled:
      return text + fmt::format(", then no further gain (best {:.4g})",
                                finding.Number("best").value_or(0));
    case Learning::kDiverged:
      return text + (lost_its_start ? std::string(", far above where it began")
                                    : fmt::format(", far off its best of {:.4g}", finding.Number("best").value_or(0)));
    case Learning::kNeverLearned:
      return text + fmt::format(": never left its starting level beyond its noise of {:.2g}",
                                finding.Number("noise").value_or(0));
    case Learning::kUnknown:
      break;
  }
  const std::string why = FactText(finding, "state");
  return text + (why == "too-short"      ? ": too few points to say"
                 : why == "start-unseen" ? ": level, but where it began is not here"
                                         : ": its noise hides the answer");
}

LearningView View(const Finding& basis, Learning state) {
  return {state, &basis, Describe(basis, state)};
}

}  // namespace whystop
