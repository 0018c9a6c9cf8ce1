#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLabelsMisaligned(const CaseFile& run, Hypothesis& out) {
  WeighLabelsAtGuessing(run, "the labels were paired with the wrong inputs", out);
}

}  // namespace whystop
