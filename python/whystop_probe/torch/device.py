"""Tensors on a device: reduced there by operations on the current stream, or some rows of them copied without blocking; read steps later.

No operation here waits for the device: none asks for a value, none makes a result whose size depends on values. Nothing is asked of a
device whose stream is being captured, while a compiler traces, or beyond a share of the device's own time.
"""

import os
from collections import deque
from contextlib import nullcontext
from time import perf_counter

_BELOW = (2.0**-24, 2.0**-14, 2.0**-7, 1 - 2.0**-7, 2.0, 65520.0)  # As in tensors.py.
_KINDS = ("cuda", "xpu", "mps")  # ROCm calls itself "cuda".
_PINNED = ("cuda", "xpu")  # Only into locked memory do these copy without waiting.
_NO_DOUBLE = ("mps",)
_PENDING_MAX = 96
_REDUCED_MAX = 1 << 22  # Values of one sample, which are read some fourteen times over.
_ROWS_MAX = 1 << 14  # Values of a tensor of which rows are copied: 64 KiB.
_TEMPORARY = 40  # Bytes for each value that is reduced.
# As on the host (core/governor.py): of the device's time, and more of it in the first seconds of training.
_SHARE = 0.003
_EARLY_SHARE = 0.02
_EARLY_S = 8.0
_TOKENS_MAX_S = 0.25
FORCED = "WHYSTOP_DEVICE_READER"  # "host": tensors in host memory are read this way too. For tests.


class DeviceReader:
    """What is on its way is kept in the order in which it was asked for, and given out by take()."""

    def __init__(self, torch, pulse, make_span=None):
        self._torch = torch
        self._pulse = pulse
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._make_span = make_span or self._span
        self._pending = deque()  # (span, device tensors, host tensors, give, what, estimate of its device time)
        self._began = self._earned_at = perf_counter()
        self._tokens_s = _EARLY_SHARE * 0.1
        self._costs = {}  # what -> seconds of the device, as measured last
        self._giving = False
        self.forced = os.environ.get(FORCED) == "host"

    def takes(self, tensor):
        """Whether this tensor is one of those that are read here."""
        if type(tensor) not in self._plain or tensor.layout is not self._torch.strided or tensor.numel() == 0:
            return False
        return self.pretends() if tensor.is_cpu else tensor.device.type in _KINDS

    def pretends(self):
        """Whether tensors in host memory are taken for those of a device. Not of what was copied from one."""
        return self.forced and not self._giving

    def refuses(self, tensor):
        """Whether nothing can be asked of this tensor now."""
        return not self.takes(tensor) or self._captured(tensor)

    def reduce(self, tensors, arrived):
        """Calls arrived([15 numbers (docs/wire.md, STATS), or None, for each tensor]) from a later take(). False where nothing is sent."""
        first = self._first(tensors)
        read = [tensor if self._beside(first, tensor) and tensor.dtype.is_floating_point else None for tensor in tensors]
        total = sum(tensor.numel() for tensor in read if tensor is not None)
        if first is None or not 0 < total <= _REDUCED_MAX or not self._room(first, total * _TEMPORARY):
            return False
        counts = [None if tensor is None else tensor.numel() for tensor in read]

        def make():
            return [self._torch.stack([self._reduce(tensor.detach()) for tensor in read if tensor is not None])]

        def give(here):
            rows = iter(here[0].tolist())
            arrived([None if count is None else (count, *_whole(next(rows))) for count in counts])

        return self._send("reduce", first, make, give)

    def bring(self, tensors, arrived, always=False):
        """Calls arrived(the same tensors in host memory) from a later take(); of large ones as many leading rows as fit, the same number of
        each. `always`: a single value that is wanted whatever it costs. False where nothing is sent."""
        first = self._first(tensors)
        if first is None or not all(self._beside(first, tensor) or self._is_host(tensor) for tensor in tensors):
            return False
        rows = min([_ROWS_MAX * tensor.shape[0] // tensor.numel() for tensor in tensors if tensor.dim() > 0], default=1)
        if rows == 0:
            return False

        def make():
            parts = [tensor.detach()[:rows] if tensor.dim() > 0 else tensor.detach() for tensor in tensors]
            return [part.clone() if part.is_cpu else part.contiguous() for part in parts]

        return self._send("value" if always else "rows", first, make, arrived, always)

    def take(self):
        """Gives out what has arrived. Returns whether more is under way."""
        while self._pending and self._pending[0][0].query():
            span, _, here, give, what, estimate = self._pending.popleft()
            if what != "value":
                self._costs[what] = seconds = span.seconds()
                self._tokens_s += estimate - seconds
            self._giving = True
            try:
                give(here)
            finally:
                self._giving = False
        return bool(self._pending)

    def _first(self, tensors):
        return next((tensor for tensor in tensors if tensor is not None and self.takes(tensor)), None)

    def _beside(self, first, tensor):
        return tensor is not None and self.takes(tensor) and tensor.device == first.device

    def _is_host(self, tensor):
        """Labels may stay where they are while inputs go to the device."""
        return type(tensor) in self._plain and tensor.is_cpu and tensor.layout is self._torch.strided and tensor.numel() > 0

    def _send(self, what, first, make, give, always=False):
        if len(self._pending) >= _PENDING_MAX or (not always and not self._affords(what)) or self._captured(first):
            return False
        torch, kind = self._torch, first.device.type
        with torch.no_grad(), self._on(first):
            span = self._make_span(first)
            there = make()
            here = [torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=kind in _PINNED) for tensor in there]
            for tensor, copy in zip(there, here):
                copy.copy_(tensor, non_blocking=True)
            span.end()
        estimate = self._costs.get(what, 0.0)
        self._tokens_s -= 0.0 if always else estimate
        self._pending.append((span, there, here, give, what, estimate))
        self._pulse.late_waiting = True
        return True

    def _affords(self, what):
        now = perf_counter()
        share = _EARLY_SHARE if now - self._began < _EARLY_S else _SHARE
        self._tokens_s = min(self._tokens_s + share * (now - self._earned_at), _TOKENS_MAX_S)
        self._earned_at = now
        return self._tokens_s > self._costs.get(what, 0.0)

    def _module(self, tensor):
        """torch.cuda, torch.xpu or torch.mps."""
        return getattr(self._torch, tensor.device.type)

    def _on(self, tensor):
        """Events are recorded on the stream of the current device, which need not be this tensor's."""
        return nullcontext() if tensor.is_cpu or tensor.device.type == "mps" else self._module(tensor).device(tensor.device)

    def _captured(self, tensor):
        """Inside a CUDA graph, or while a compiler traces: whatever is called now would become part of it."""
        if self._torch.compiler.is_compiling():
            return True
        asked = None if tensor.is_cpu else getattr(self._module(tensor), "is_current_stream_capturing", None)
        if asked is None:
            return False
        with self._on(tensor):
            return asked()

    def _room(self, tensor, size):
        """Whether the allocator has so much in store: asking the driver for memory would wait for the device."""
        if not tensor.is_cuda:
            return True
        cuda = self._torch.cuda
        return cuda.memory_reserved(tensor.device) - cuda.memory_allocated(tensor.device) > size

    def _span(self, tensor):
        return _Done() if tensor.is_cpu else _Span(self._module(tensor).Event)

    def _reduce(self, tensor):
        """The numbers of docs/wire.md, STATS, behind the count, as one row on the tensor's own device."""
        torch = self._torch
        exact = torch.float32 if tensor.device.type in _NO_DOUBLE else torch.float64
        values = tensor.reshape(-1).to(exact)
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
        return torch.stack([fact.to(exact) for fact in facts])


class _Span:
    """A stretch of a stream: asked whether the device has passed it, and how long that took."""

    def __init__(self, event):
        self._begin, self._end = event(enable_timing=True), event(enable_timing=True)
        self._begin.record()

    def end(self):
        self._end.record()

    def query(self):
        return self._end.query()

    def seconds(self):
        return self._begin.elapsed_time(self._end) / 1000


class _Done:
    """Of the host itself: everything has been done when a call returns, and its time is in the governor's account."""

    def end(self):
        pass

    def query(self):
        return True

    def seconds(self):
        return 0.0


def _whole(row):
    """Counts as whole numbers; no finite value at all: its range is 0, as the native reader has it."""
    nan, inf, zero, low, high, total, squares, largest, *below = row
    if low > high:
        low = high = 0.0
    return (int(nan), int(inf), int(zero), low, high, total, squares, largest, *map(int, below))
