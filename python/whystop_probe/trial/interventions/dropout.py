"""dropout-off: no unit is left out. Tests over-regularised."""

from whystop_probe.trial.intervention import Intervention


class DropoutOff(Intervention):
    tests = ("over-regularised",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        functional = torch.nn.functional
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            original = getattr(functional, name, None)
            if original is not None:
                setattr(functional, name, self._without(original))

    def _without(self, original):
        def call(input, p=0.5, training=True, inplace=False):
            self.applied += bool(training and p > 0)
            return original(input, 0.0, training, inplace)

        return call
