"""lr-times, lr, lr-hold: is the learning rate to blame? Set for the step and put back after it, so schedules and prints stay."""

from whystop_probe.trial.intervention import Intervention


class _Rate(Intervention):
    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._kept = {}
        self.facts = None

    def rate_of(self, optimizer, index, rate):
        raise NotImplementedError

    def before_step(self, optimizer):
        self._kept[id(optimizer)] = [group.get("lr") for group in optimizer.param_groups]
        for index, group in enumerate(optimizer.param_groups):
            if group.get("lr") is None:
                continue
            wanted = self.rate_of(optimizer, index, group["lr"])
            if self.facts is None:
                self.facts = f"{float(group['lr']):g} -> {float(wanted):g}"
            self.applied += float(wanted) != float(group["lr"])
            group["lr"] = wanted

    def after_step(self, optimizer):
        for group, rate in zip(optimizer.param_groups, self._kept.pop(id(optimizer), ())):
            if rate is not None:
                group["lr"] = rate


class RateTimes(_Rate):
    tests = ("lr-too-high", "lr-too-low")

    def rate_of(self, optimizer, index, rate):
        return rate * float(self.value)


class RateIs(_Rate):
    tests = ("lr-too-high", "lr-too-low", "lr-zero")

    def rate_of(self, optimizer, index, rate):
        return float(self.value)


class RateHeld(_Rate):
    """The rate that the optimizer was built with, whatever a schedule makes of it."""

    tests = ("scheduler-order", "lr-zero")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._first = {}

    def on_optimizer(self, optimizer):
        self._first[id(optimizer)] = [group.get("lr") for group in optimizer.param_groups]

    def rate_of(self, optimizer, index, rate):
        first = self._first.get(id(optimizer), [])
        return first[index] if index < len(first) and first[index] is not None else rate
