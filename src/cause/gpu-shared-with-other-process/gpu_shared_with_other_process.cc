#include "base/human.h"
#include "cause/evidence.h"
#include "cause/gpu_oom_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighGpuSharedWithOtherProcess(const CaseFile& run, Hypothesis& out) {
  const auto oom = FindGpuOom(run);
  // Without the others it would have fitted; a display server's few hundred MiB are no neighbour.
  if (!oom || !oom->tried || !oom->capacity || oom->others < 0.1 * *oom->capacity ||
      oom->free.value_or(0) + oom->others < *oom->tried) {
    return;
  }
  out.Add(Decisive("exception", "other processes held " + HumanBytes(oom->others) +
                                    " of the GPU's " + HumanBytes(*oom->capacity) + "; " +
                                    HumanBytes(*oom->tried) + " were asked for and " +
                                    HumanBytes(oom->free.value_or(0)) + " were free"));
  out.Fix(
      "see with nvidia-smi whose the other processes are; use another GPU (CUDA_VISIBLE_DEVICES) "
      "or wait for them");
}

}  // namespace whystop
