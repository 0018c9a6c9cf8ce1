#include "base/human.h"
#include "cause/evidence.h"
#include "cause/gpu_oom_facts.h"
#include "cause/weighers.h"
#include "sign/observed.h"

namespace whystop {

void WeighGpuOomAtEval(const CaseFile& run, Hypothesis& out) {
  const auto oom = FindGpuOom(run);
  const double steps = OrZero(CountsOf(run).steps);
  if (!oom || oom->function.empty() || steps < 1) {
    return;
  }
  out.Add(Decisive("exception",
                   HumanNumber(steps) + " training steps had fitted; memory ran out in " +
                       oom->function + "()" +
                       (oom->tried ? ", which asked for " + HumanBytes(*oom->tried) : "")));
  out.Fix("run " + oom->function +
          "() under torch.no_grad(), with a smaller batch, and move its outputs to the CPU as they "
          "come");
}

}  // namespace whystop
