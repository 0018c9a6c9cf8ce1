"""Facts about tensors, taken without changing anything: no graph, no random numbers, no device synchronisation."""

import math

from whystop_probe.core import ring

_ELEMENTS_MAX = 1 << 25  # A larger tensor is not read: that would take longer than a step may be held up.
_BELOW = (2.0**-24, 2.0**-14, 2.0**-7, 1 - 2.0**-7, 2.0, 65520.0)


class Reader:
    """Reads tensors: those in the host's memory at once, those of a device when they have come from there. Made once torch is there."""

    def __init__(self, torch, device=None):
        self._torch = torch
        self._native = ring.tensor_stats
        self._dtypes = {
            torch.float32: ring.DTYPE_F32,
            torch.float64: ring.DTYPE_F64,
            torch.float16: ring.DTYPE_F16,
            torch.bfloat16: ring.DTYPE_BF16,
        }
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._device = device  # Reads what is not in the host's memory, and gives it out later.

    def readable(self, tensor):
        """Whether values can be had for nothing: dense, in host memory, and no stand-in of a tracer."""
        plain = type(tensor) in self._plain and tensor.is_cpu and tensor.layout is self._torch.strided
        return plain and (self._device is None or not self._device.pretends())

    def within_reach(self, tensor):
        """Whether fetch() and stats_of() can have it, now or later."""
        return self.readable(tensor) or (self._device is not None and self._device.takes(tensor))

    def fetch(self, tensors, arrived):
        """Calls arrived(the tensors): at once, or when a device has copied leading rows of them to host memory; or never."""
        if self._device is not None and any(self._device.takes(tensor) for tensor in tensors):
            self._device.bring(tensors, arrived)
        else:
            arrived(tensors)

    def stats_of(self, tensors, arrived):
        """Calls arrived(what stats() gives): at once, or when a device has reduced them; or never."""
        if self._device is not None and any(tensor is not None and self._device.takes(tensor) for tensor in tensors):
            self._device.reduce(tensors, arrived)
        else:
            arrived(self.stats(tensors))

    def numbers_of(self, tensors, arrived):
        """Calls arrived(the numbers in tensors of one element each): at once, or when they have come from a device; or never."""
        if all(tensor.is_cpu for tensor in tensors) and not (self._device is not None and self._device.pretends()):
            arrived([float(tensor) for tensor in tensors])
        elif self._device is not None:
            self._device.bring([self._torch.stack([tensor.float() for tensor in tensors])], lambda here: arrived(here[0].tolist()))

    def stats(self, tensors):
        """One tuple of 15 numbers (docs/wire.md, STATS) a tensor, or None where it cannot be read."""
        found = [None] * len(tensors)
        calls = []
        for index, tensor in enumerate(tensors):
            if tensor is None or not self.readable(tensor) or not 0 < tensor.numel() <= _ELEMENTS_MAX:
                continue
            dtype = self._dtypes.get(tensor.dtype)
            if dtype is not None and self._native is not None and tensor.is_contiguous():
                calls.append((index, (tensor.data_ptr(), tensor.numel(), dtype)))
            else:
                found[index] = self._by_torch(tensor)
        if calls:
            for (index, _), stats in zip(calls, self._native([call for _, call in calls])):
                found[index] = stats
        return found

    def _by_torch(self, tensor):
        torch = self._torch
        with torch.no_grad():
            values = tensor.detach().reshape(-1)
            if values.is_complex():
                return None
            values = values.to(torch.float64)
            finite = values[torch.isfinite(values)]
            nan = int(torch.isnan(values).sum())
            sizes = finite.abs()
            empty = finite.numel() == 0
            return (
                values.numel(),
                nan,
                values.numel() - finite.numel() - nan,
                int((values == 0).sum()),
                0.0 if empty else float(finite.min()),
                0.0 if empty else float(finite.max()),
                float(finite.sum()),
                float((finite * finite).sum()),
                0.0 if empty else float(sizes.max()),
            ) + tuple(int((sizes < limit).sum()) for limit in _BELOW)

    def number(self, tensor):
        """The value of a tensor with one element, or None where reading it would wait for a device."""
        if isinstance(tensor, (int, float)):
            return float(tensor)
        if self.readable(tensor) and tensor.numel() == 1:
            return float(tensor.item())
        return None


def nonfinite(stats):
    """How many of the values were NaN or infinite."""
    return 0 if stats is None else stats[1] + stats[2]


def moments(stats):
    """Mean and standard deviation of the finite values."""
    count = stats[0] - stats[1] - stats[2]
    if count <= 0:
        return None, None
    mean = stats[6] / count
    return mean, math.sqrt(max(stats[7] / count - mean * mean, 0.0))


def shape_text(tensor):
    return "x".join(str(size) for size in tensor.shape) or "scalar"


def dtype_text(tensor):
    return str(tensor.dtype).replace("torch.", "")
