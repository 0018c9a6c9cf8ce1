"""zero-grad: gradients are cleared before the first backward pass after each step. Tests missing-zero-grad."""

from whystop_probe.trial.intervention import Intervention


class ZeroGrad(Intervention):
    tests = ("missing-zero-grad",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._optimizers = {}
        self._stepped = True

    def on_optimizer(self, optimizer):
        self._optimizers[id(optimizer)] = optimizer

    def before_backward(self, loss):
        if not self._stepped:
            return  # Accumulation over several passes is meant.
        self._stepped = False
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    self.applied += parameter.grad is not None and bool(parameter.grad.abs().max() > 0)
                    parameter.grad = None

    def after_step(self, optimizer):
        self._stepped = True
