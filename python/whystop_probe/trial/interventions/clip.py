"""clip=1: the norm of all gradients together is bounded. Tests exploding-gradient."""

from whystop_probe.trial.intervention import Intervention


class Clip(Intervention):
    tests = ("exploding-gradient",)

    def before_step(self, optimizer):
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not parameters:
            return
        bound = float(self.value or 1)
        norm = self.torch.nn.utils.clip_grad_norm_(parameters, bound)
        self.applied += float(norm) > bound
