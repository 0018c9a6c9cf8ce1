#include "base/human.h"
#include "cause/evidence.h"
#include "cause/gpu_oom_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighCudaOomFragmentation(const CaseFile& run, Hypothesis& out) {
  const auto oom = FindGpuOom(run);
  if (!oom || !oom->tried || !oom->reserved_unallocated ||
      *oom->reserved_unallocated < *oom->tried) {
    return;  // The pieces together would not have been enough either.
  }
  constexpr double kUsualShare = 0.1;  // Any allocator keeps some: such a card is simply full.
  if (oom->capacity && *oom->reserved_unallocated < kUsualShare * *oom->capacity) {
    return;
  }
  out.Add(Decisive("exception", HumanBytes(*oom->tried) + " were asked for, while " +
                                    HumanBytes(*oom->reserved_unallocated) +
                                    " were reserved by PyTorch and unused: the memory was there, "
                                    "in pieces that are too small"));
  out.Fix("start it with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
}

}  // namespace whystop
