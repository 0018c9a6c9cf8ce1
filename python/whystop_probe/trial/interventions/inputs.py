"""standardise-inputs: the model's first floating-point input gets center 0 and spread 1, by the first batches. Tests unscaled-inputs."""

from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.scales import column_scales

_BATCHES = 8
_BOUND = 10.0  # In spreads: a robust spread leaves far outliers that are no more than that.


class StandardiseInputs(Intervention):
    tests = ("unscaled-inputs", "categorical-as-integer")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._seen = []
        self._scale = None

    def before_forward(self, module, args, kwargs):
        for index, value in enumerate(args):
            if isinstance(value, self.torch.Tensor) and value.dtype.is_floating_point and value.dim() >= 2:
                return args[:index] + (self._standardised(value),) + args[index + 1 :], kwargs
        return args, kwargs

    def _standardised(self, value):
        if len(self._seen) < _BATCHES:
            self._seen.append(value.detach()[:4096])
            same = [seen for seen in self._seen if seen.shape[1:] == value.shape[1:]]
            self._scale = column_scales(self.torch, self.torch.cat(same))
        center, spread = self._scale
        if center.dim() != value.dim():
            return value
        self.applied += 1
        scaled = (value.double() - center) / self.torch.where(spread > 0, spread, self.torch.ones_like(spread))
        return scaled.clamp(-_BOUND, _BOUND).to(value.dtype)
