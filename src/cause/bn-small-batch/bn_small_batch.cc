#include "base/human.h"
#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

// A held-out loss far below the first one of training is no harm, however much lower that of
// training is.
constexpr double kHarmMin = 0.25;

/// Of the loader, else the first dimension of what the model was given; 0: not known.
double BatchSize(const CaseFile& run) {
  const auto loaders = ObservationsOf(run, "loader");
  if (!loaders.empty()) {
    return NumberOf(*loaders.front(), "batch_size");
  }
  const Observation* input = ModelInput(run);
  const std::string shape = input == nullptr ? "" : TextOf(*input, "shape");
  return ParseWhole<double>(std::string_view(shape).substr(0, shape.find('x'))).value_or(0);
}

}  // namespace

void WeighBnSmallBatch(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  const double size = BatchSize(run);
  if (model == nullptr || !MentionsAny(TextOf(*model, "norms"), {"batchnorm"}) || size < 2 ||
      size > 4) {
    return;
  }
  const LearningView learning = LearningOf(run);
  const std::string setting =
      TextOf(*model, "norms") + " with batches of " + HumanNumber(size) + " samples";
  // Each pixel of a picture is a value too, if not one of its own.
  const bool pictures = MentionsAny(TextOf(*model, "norms"), {"batchnorm2d", "batchnorm3d"});
  if ((pictures ? learning.Bad() : !learning.Good()) && learning.basis != nullptr &&
      learning.basis->Number("points").value_or(0) >= 50 && LossLost(run) == nullptr) {
    out.Add(Supports("model", setting + ": mean and spread of so few values are mostly noise"));
    out.Add(Supports("series", learning.text));
    return;
  }
  for (const Finding& finding : run.findings) {
    const bool held_out =
        finding.detector == "loss/trend" && FactText(finding, "role") == "validation-loss";
    const double last = finding.Number("last").value_or(0);
    if (held_out && learning.Good() && last > 2 * learning.basis->Number("last").value_or(0) &&
        last > kHarmMin * learning.basis->Number("first").value_or(0)) {
      out.Add(Supports("model", setting));
      out.Add(Supports("series",
                       finding.series + " ends at " + HumanNumber(last) + " while " + learning.text,
                       finding.facts));
      return;
    }
  }
}

}  // namespace whystop
