"""How descent goes, by figures without a scale: whether the gradients of consecutive steps agree, whether a step follows its
gradient, and what it promised."""

import weakref
from math import isfinite, sqrt

from whystop_probe.core.guard import quiet

_STRETCH_FIRST = 16  # Steps of the first stretch; each one ends at four times the step at which the one before ended.
_STRETCH_GROWTH = 4


class Descent:
    """Told of an update that was measured anyway, keeps the gradient behind it for one step, and compares it with the next one.

    For the gradients g and g' of two consecutive steps, of different batches, the mean of cos(g, g') is the share of the signal in
    them: 1 where every batch says the same, 0 where they have nothing in common. The change u of the weights promises to lower the
    loss by -g.u. Both are summed over stretches of the run that grow, and told when one ends.
    """

    def __init__(self, torch, training, reader):
        self._reader = reader
        self._torch = torch
        self._training = training
        self._kept = None  # (weak parameter, its gradient, that one's size, the step it made, backward passes until then)
        self._sums = _Sums(1, _STRETCH_FIRST)

    @property
    def waits(self):
        """Whether the next step's gradient is wanted. Where tokens were short at that one, it has passed for good."""
        if self._kept is not None and self._kept[3] != self._training.step:
            self._kept = None
        return self._kept is not None

    @quiet
    def on_update(self, name, parameter, update):
        """Called behind a step, with the change that it made. The gradient that led to it is still there."""
        gradient = self._gradient(parameter)
        if gradient is None:
            return
        size, sums = gradient.norm(), self._sums
        agrees = self._torch.dot(gradient, update.reshape(-1).to(gradient.dtype))
        self._reader.numbers_of([size, update.norm(), agrees], quiet(lambda found: _add_update(sums, name, *found)))
        self._kept = (weakref.ref(parameter), gradient.clone(), size, self._training.step, self._training.pulse.backwards)

    @quiet
    def before_step(self):
        """Called ahead of a step of the same optimizer: its gradients are there, unless a closure makes them within it. Returns how many
        values were read."""
        if self._kept is None or self._kept[4] == self._training.pulse.backwards:
            return 0
        return self._compare(self._training.step)

    @quiet
    def after_closure(self):
        """Called behind a step: a gradient that a closure made within it is still there."""
        if self._kept is not None and self._kept[3] < self._training.step:
            self._compare(self._training.step - 1)

    def _compare(self, step_before):
        kept, self._kept = self._kept, None
        if kept[3] != step_before or kept[4] == self._training.pulse.backwards:
            return 0
        parameter = kept[0]()
        gradient = self._gradient(parameter) if parameter is not None else None
        if gradient is None or gradient.shape != kept[1].shape:
            return 0
        sums = self._sums
        self._reader.numbers_of([gradient.norm(), kept[2], self._torch.dot(gradient, kept[1])], quiet(lambda found: _add_pair(sums, *found)))
        return gradient.numel()

    @quiet
    def after_step(self):
        if self._training.step >= self._sums.to:
            self.tell()
            self._sums = _Sums(self._sums.to + 1, _STRETCH_GROWTH * self._sums.to)

    @quiet
    def tell(self):
        """What is known of the stretch that has not ended yet, too: the last word counts."""
        sums = self._sums
        if sums.pairs == 0 and sums.updates == 0:
            return
        facts = {"from": sums.since, "to": self._training.step, "pairs": sums.pairs, "updates": sums.updates}
        if sums.pairs:
            facts["agreement"], facts["agreement_error"] = sums.agreement()
        if sums.updates:
            facts["along"] = sums.along / sums.updates
            facts["promised"] = sum(total / count for total, count in sums.promised.values())
            facts["tensors"] = len(sums.promised)
        self._training.channel.observe("descent", self._training.step, **facts)

    def _gradient(self, parameter):
        """As a row of at least 32 bits a value, or None."""
        gradient = parameter.grad
        if gradient is None or gradient.layout is not self._torch.strided or not self._reader.within_reach(gradient):
            return None
        flat = gradient.detach().reshape(-1)
        if not flat.dtype.is_floating_point:
            return None
        return flat if flat.dtype in (self._torch.float32, self._torch.float64) else flat.float()


def _add_update(sums, name, size, change, agrees):
    """Of the gradient and the change of one step: their sizes, and the product of the two."""
    if size > 0 and change > 0 and isfinite(size) and isfinite(change):
        sums.add_update(name, -agrees, -agrees / (size * change))


def _add_pair(sums, size, before, agrees):
    if size > 0 and before > 0 and isfinite(size) and isfinite(before):
        sums.add_pair(agrees / (size * before))


class _Sums:
    """Of one stretch."""

    def __init__(self, since, to):
        self.since, self.to = since, to
        self.pairs = self.updates = 0
        self._cosines = self._squares = self.along = 0.0
        self.promised = {}  # tensor -> [sum, count]: a step's promise is the sum of the tensors' means.

    def add_pair(self, cosine):
        self.pairs += 1
        self._cosines += cosine
        self._squares += cosine * cosine

    def add_update(self, name, promised, along):
        self.updates += 1
        self.along += along
        entry = self.promised.setdefault(name, [0.0, 0])
        entry[0] += promised
        entry[1] += 1

    def agreement(self):
        """The mean cosine and its standard error."""
        mean = self._cosines / self.pairs
        spread = max(self._squares / self.pairs - mean * mean, 0.0)
        return mean, sqrt(spread / max(self.pairs - 1, 1))
