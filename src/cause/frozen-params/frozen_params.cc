#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

// The head of a large model on classes it has not seen is a few per cent of it.
constexpr double kShareMin = 0.05;
// A head on a good backbone falls below this soon.
constexpr double kGuessingMin = 0.85;

}  // namespace

void WeighFrozenParams(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  if (model == nullptr || NumberOf(*model, "parameters") == 0 || !model->Number("trainable")) {
    return;
  }
  const double share = NumberOf(*model, "trainable") / NumberOf(*model, "parameters");
  const std::string text = HumanNumber(NumberOf(*model, "trainable")) + " of " +
                           HumanNumber(NumberOf(*model, "parameters"), 9) + " parameters of " +
                           TextOf(*model, "name") + " can be trained";
  if (share == 0) {
    out.Add(Decisive("model", text));
    return;
  }
  const bool biases_only =
      NumberOf(*model, "matrices") > 0 && model->Number("trainable_matrices") == 0.0;
  if ((share < kShareMin || biases_only) &&
      (NotSeenToLearn(run) || ShareOfGuessing(run) > kGuessingMin)) {
    out.Add(Supports("model", text + " (requires_grad)" +
                                  (biases_only ? ", and no weight matrix is among them" : "")));
    out.Add(Supports("series", LearningOf(run).text));
  }
}

}  // namespace whystop
