"""Statistics of tensors on a device: reduced there by operations on the current stream, copied without blocking, read steps later.

No operation here waits for the device: none asks for a value, none makes a result whose size depends on values.
"""

import os
from collections import deque
from time import perf_counter

_BELOW = (2.0**-24, 2.0**-14, 2.0**-7, 1 - 2.0**-7, 2.0, 65520.0)  # As in tensors.py.
_PENDING_MAX = 8
# One sample reads so many values some fourteen times over: half a millisecond of a device that reads 500 GB a second. Ten a second are a two-hundredth.
_ELEMENTS_MAX = 1 << 22
_EVERY_S = 0.1
FORCED = "WHYSTOP_DEVICE_READER"  # "host": tensors in host memory are read this way too. For tests.


class DeviceReader:
    def __init__(self, torch, pulse, make_event=None):
        self._torch = torch
        self._pulse = pulse
        self._make_event = make_event or self._record
        self._pending = deque()  # (event, host buffer, device buffer, counts, arrived)
        self._next_at = 0.0
        self.forced = os.environ.get(FORCED) == "host"

    def takes(self, tensor):
        """Whether this tensor is one of those that are read here. MPS and XPU are left out: no event of theirs was tried."""
        plain = type(tensor) in (self._torch.Tensor, self._torch.nn.Parameter) and tensor.layout is self._torch.strided
        return plain and (tensor.is_cuda or (self.forced and tensor.is_cpu)) and tensor.dtype.is_floating_point and tensor.numel() > 0

    def due(self):
        return len(self._pending) < _PENDING_MAX and perf_counter() >= self._next_at and not self._captured()

    def put(self, tensors, arrived):
        """Calls arrived([15 numbers or None for each tensor]) from a later take(). False where nothing is put."""
        wanted = [tensor if tensor is not None and self.takes(tensor) else None for tensor in tensors]
        read = [tensor for tensor in wanted if tensor is not None]
        if not read or not self.due() or sum(tensor.numel() for tensor in read) > _ELEMENTS_MAX:
            return False
        self._next_at = perf_counter() + _EVERY_S
        torch = self._torch
        with torch.no_grad():
            there = torch.stack([self._reduce(tensor.detach()) for tensor in read])
            here = torch.empty(there.shape, dtype=there.dtype, pin_memory=there.is_cuda)
            here.copy_(there, non_blocking=True)
        counts = [None if tensor is None else tensor.numel() for tensor in wanted]
        self._pending.append((self._make_event(), here, there, counts, arrived))
        self._pulse.late_waiting = True
        return True

    def take(self):
        """Gives out what has arrived. Returns whether more is under way."""
        while self._pending and self._pending[0][0].query():
            _, here, _, counts, arrived = self._pending.popleft()
            rows = iter(here.tolist())
            arrived([None if count is None else (count, *_whole(next(rows))) for count in counts])
        return bool(self._pending)

    def _captured(self):
        """Inside a CUDA graph, or while a compiler traces: whatever is called now would become part of it."""
        torch = self._torch
        return torch.compiler.is_compiling() or (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())

    def _record(self):
        if not self._torch.cuda.is_initialized():
            return _Done()
        event = self._torch.cuda.Event()
        event.record()
        return event

    def _reduce(self, tensor):
        """The numbers of docs/wire.md, STATS, behind the count, as one row on the tensor's own device."""
        torch = self._torch
        values = tensor.reshape(-1).to(torch.float64)
        finite = torch.isfinite(values)
        nan = torch.isnan(values).sum()
        known = torch.where(finite, values, torch.zeros_like(values))
        sizes = known.abs()
        facts = [
            nan,
            finite.logical_not().sum() - nan,
            (values == 0).sum(),
            torch.where(finite, values, torch.full_like(values, float("inf"))).min(),
            torch.where(finite, values, torch.full_like(values, float("-inf"))).max(),
            known.sum(),
            (known * known).sum(),
            sizes.max(),
        ]
        facts += [((sizes < limit) & finite).sum() for limit in _BELOW]
        return torch.stack([fact.to(torch.float64) for fact in facts])


class _Done:
    def query(self):
        return True


def _whole(row):
    """Counts as whole numbers; no finite value at all: its range is 0, as the native reader has it."""
    nan, inf, zero, low, high, total, squares, largest, *below = row
    if low > high:
        low = high = 0.0
    return (int(nan), int(inf), int(zero), low, high, total, squares, largest, *map(int, below))
