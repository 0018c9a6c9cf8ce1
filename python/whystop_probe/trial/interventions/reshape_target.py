"""reshape-target: the target gets the output's shape where only the shape differs. Tests target-broadcast."""

from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.shapes import reshapable


class ReshapeTarget(Intervention):
    tests = ("target-broadcast",)

    def before_loss(self, function, input, target):
        if not reshapable(function, input, target):
            return input, target
        self.applied += 1
        return input, target.reshape(input.shape)
