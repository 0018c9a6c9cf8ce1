"""The loss on data that is not trained on: calls of a loss function without gradients, of a model in evaluation mode, or of one to
which the mode makes no difference. Many programs keep it to themselves, or write it to a file."""

import sys

from whystop_probe.core import ring
from whystop_probe.core.crash import users_own
from whystop_probe.core.guard import quiet

_SERIES_MAX = 4
_MODAL = ("BatchNorm", "InstanceNorm", "SyncBatchNorm", "RNN", "LSTM", "GRU", "Transformer", "MultiheadAttention")  # Some may hold dropout of their own.


def _place_of(target):
    """Without a loader: the line that asks for the loss, and for how many samples. It tells one data set from another well enough."""
    frame = sys._getframe(2)
    while frame is not None and not users_own(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_lineno, target.shape[0] if target.dim() else 1)


class HeldOutLoss:
    """One mean for each look between two steps, over the calls of that look; a series for each data set that is looked at."""

    def __init__(self, torch, training, optimizers, loaders):
        self._torch = torch
        self._training = training
        self._optimizers = optimizers
        self._loaders = loaders
        self._step = 0  # At which the calls were made that are being summed.
        self._sums = {}  # data set -> [sum over samples, samples]
        self._names = {}  # data set -> series
        self._minds = None  # Whether the model has layers that do something else in training mode; not asked yet.

    def listener(self):
        """Called behind every call of a loss function, those of training too."""
        enabled = self._torch.is_grad_enabled

        def after(result, input, target, *rest):
            if not enabled():
                self._add(result, target)

        return after

    @quiet
    def _add(self, result, target):
        root, torch = self._optimizers.root(), self._torch
        if root is None or self._training.compiled or self._training.step == 0 or (root.training and self._minds_its_mode(root)):
            return
        if type(result) is not torch.Tensor or not result.is_cpu or result.numel() != 1 or not isinstance(target, torch.Tensor):
            return
        data = self._loaders.data_looked_at()
        data = _place_of(target) if data == 0 else data
        if data is None or (data not in self._names and len(self._names) >= _SERIES_MAX):
            return
        if self._step != self._training.step:
            self.tell()
            self._step = self._training.step
        samples = target.shape[0] if target.dim() else 1
        sums = self._sums.setdefault(data, [0.0, 0])
        sums[0] += float(result) * samples
        sums[1] += samples

    def _minds_its_mode(self, root):
        """Then calls in training mode are no look at how good it is."""
        if self._minds is None:
            self._minds = any(type(module).__name__.startswith(_MODAL) or "Dropout" in type(module).__name__ for module in root.modules())
        return self._minds

    @quiet
    def tell(self):
        """The look at the last step that was looked at is over."""
        sums, self._sums = self._sums, {}
        for data, (total, samples) in sums.items():
            number = len(self._names) + 1
            name = self._names.setdefault(data, "held-out loss" if number == 1 else f"held-out loss {number}")
            if samples:
                self._training.channel.writer.scalar(name, ring.ROLE_VALIDATION_LOSS, self._step, total / samples)
