"""weight-decay=0: the optimizers' own penalty is set to this value. Tests over-regularised."""

from whystop_probe.trial.intervention import Intervention


class WeightDecay(Intervention):
    tests = ("over-regularised",)

    def before_step(self, optimizer):
        for group in optimizer.param_groups:
            if group.get("weight_decay"):
                self.applied += 1
                group["weight_decay"] = float(self.value or 0)
