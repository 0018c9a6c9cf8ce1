#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLabelsMisaligned(const CaseFile& run, Hypothesis& out) {
  const std::string guessing = DescribeGuessing(run);
  if (guessing.empty() || !LearnsSoundly(run)) {
    return;
  }
  out.Add(Supports("series",
                   guessing + ", as it does when the labels were paired with the wrong inputs; "
                              "steps, gradients and updates are of ordinary size, and the outputs "
                              "differ from sample to sample"));
  out.Add(Missing("data",
                  "whether labels that say nothing or labels of the wrong samples do it: look at "
                  "ten pairs as the model gets them, and train on these ten alone"));
}

}  // namespace whystop
