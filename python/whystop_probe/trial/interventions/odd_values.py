"""fill-odd-values: NaN and fillers such as -999 become the middle of their column. Tests missing-values and nan-in-data."""

from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.scales import column_scales, odd_values


class FillOddValues(Intervention):
    tests = ("missing-values", "nan-in-data")

    def before_forward(self, module, args, kwargs):
        for index, value in enumerate(args):
            if isinstance(value, self.torch.Tensor) and value.dtype.is_floating_point:
                return args[:index] + (self._filled(value),) + args[index + 1 :], kwargs
        return args, kwargs

    def before_loss(self, function, input, target):
        if target.dtype.is_floating_point and not bool(self.torch.isfinite(target).all()):
            self.applied += 1
            finite = target[self.torch.isfinite(target)]
            target = self.torch.nan_to_num(target, float(finite.mean()) if finite.numel() else 0.0, 0.0, 0.0)
        return input, target

    def _filled(self, value):
        odd = odd_values(self.torch, value)
        if not bool(odd.any()):
            return value
        self.applied += 1
        center = column_scales(self.torch, self.torch.where(odd, self.torch.full_like(value, float("nan")).double(), value.double()))[0]
        return self.torch.where(odd, center.expand_as(value), value.double()).to(value.dtype)
