"""reshape-target: the target gets the output's shape where only the shape differs. Tests target-broadcast."""

from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.shapes import reshapable


class ReshapeTarget(Intervention):
    tests = ("target-broadcast",)
    _flatten = False

    def on_spread_loss(self):
        """A loss written by hand: its targets cannot be reached, the outputs can."""
        self._flatten = True

    def after_forward(self, module, output):
        if not self._flatten or not isinstance(output, self.torch.Tensor) or output.dim() != 2 or output.shape[1] != 1:
            return output
        self.applied += 1
        return output.squeeze(1)

    def before_loss(self, function, input, target):
        if not reshapable(function, input, target):
            return input, target
        self.applied += 1
        return input, target.reshape(input.shape)
