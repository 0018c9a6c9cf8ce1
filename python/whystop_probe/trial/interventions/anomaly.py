"""anomaly: torch names the operation whose gradient was the first NaN. Tests invalid-math."""

from whystop_probe.trial.intervention import Intervention


class Anomaly(Intervention):
    tests = ("invalid-math",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        torch.autograd.set_detect_anomaly(True)
        self.applied = 1
