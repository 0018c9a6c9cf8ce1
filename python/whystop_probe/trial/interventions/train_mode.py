"""train-mode: every module is in training mode at each training call. Tests eval-mode-left-on."""

from whystop_probe.trial.intervention import Intervention


class TrainMode(Intervention):
    tests = ("eval-mode-left-on",)

    def before_forward(self, module, args, kwargs):
        if any(not part.training for part in module.modules()):
            self.applied += 1
            module.train()
        return args, kwargs
