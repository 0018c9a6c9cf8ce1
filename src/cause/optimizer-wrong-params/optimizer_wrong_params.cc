#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighOptimizerWrongParams(const CaseFile& run, Hypothesis& out) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  if (optimizers.empty()) {
    return;
  }
  const Observation& optimizer = *optimizers.front();
  const double orphans = NumberOf(optimizer, "tensors_of_no_module");
  const double held = NumberOf(optimizer, "tensors");
  if (held > 0 && NoGradientsInOptimizer(run) && OptimizerHoldsOthers(run)) {
    out.Add(Decisive(
        "optimizer",
        "backward() ran, but none of the " + HumanNumber(held) + " tensors that " +
            TextOf(optimizer, "name") +
            " holds got a gradient: they are not those of the model that computes the loss"));
    if (orphans > 0) {
      out.Add(Supports("optimizer",
                       HumanNumber(orphans) + " of them belong to no module that is alive"));
    }
  }
  const Observation* left = run.FindObservation("parameter-not-in-optimizer");
  if (left == nullptr) {
    return;
  }
  const double count = NumberOf(*left, "count");
  const std::string text =
      HumanNumber(count) + " trainable tensors are in no optimizer: " + TextOf(*left, "names");
  // Training the head alone is often meant so; then it learns.
  const LearningView learning = LearningOf(run);
  const bool learned_little = !run.job_alive && learning.basis != nullptr &&
                              learning.basis->Number("points").value_or(0) >= 50 &&
                              ShareOfGuessing(run) > 0.65;
  const bool many = count > 0.3 * (count + held);
  if (LearningFailed(run)) {
    out.Add(many ? Decisive("optimizer", text) : Supports("optimizer", text));
  } else if (learned_little && many) {
    out.Add(Supports("optimizer", text));
    out.Add(Supports("series", learning.text + ", still " + Percent(ShareOfGuessing(run)) +
                                   " of the loss of guessing"));
  }
}

}  // namespace whystop
