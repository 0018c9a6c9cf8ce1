#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLabelsRandom(const CaseFile& run, Hypothesis& out) {
  const Finding* flat = run.FindFirst("loss/plateau-from-start");
  if (flat == nullptr || FactText(*flat, "guess").empty() || !LearnsSoundly(run)) {
    return;
  }
  out.Add(Supports("series", flat->series + " stays at " + HumanNumber(flat->Number("level").value_or(0)) + ", the level of guessing (" +
                                 FactText(*flat, "guess") + "), as it does when the labels say nothing about the inputs; steps, gradients and updates are of ordinary size, and the outputs "
                                 "differ from sample to sample", flat->facts));
}

}  // namespace whystop
