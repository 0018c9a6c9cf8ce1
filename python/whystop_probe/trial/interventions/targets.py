"""standardise-targets: the targets of a regression get mean 0 and deviation 1, by the first batches. Tests unscaled-targets."""

from whystop_probe.trial.intervention import Intervention

_REGRESSIONS = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())
_BATCHES = 8


class StandardiseTargets(Intervention):
    tests = ("unscaled-targets",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._seen = []

    def before_loss(self, function, input, target):
        if function not in _REGRESSIONS or not target.dtype.is_floating_point or target.requires_grad:
            return input, target
        if len(self._seen) < _BATCHES:
            self._seen.append(target.detach().reshape(-1)[:4096])
        values = self.torch.cat(self._seen).double()
        deviation = float(values.std()) if values.numel() > 1 else 0.0
        if not deviation > 0:
            return input, target
        self.applied += 1
        return input, ((target.double() - values.mean()) / deviation).to(target.dtype)
