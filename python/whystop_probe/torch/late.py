"""Values that live on a device, read when they have arrived and not a moment before."""

from collections import deque

from whystop_probe.torch.device import DeviceReader

_PENDING_MAX = 64


class LateValues:
    """Copies one-element device tensors to pinned memory behind the device's own queue; never waits for it."""

    def __init__(self, torch, pulse):
        self._torch = torch
        self._pulse = pulse
        self._pending = deque()
        self.device = DeviceReader(torch, pulse)  # Of more than one value.

    def put(self, tensor, arrived):
        """Calls arrived(value) from a later take(). Dropped when too many are under way or nothing can be copied."""
        cuda = self._torch.cuda
        if not getattr(tensor, "is_cuda", False) or len(self._pending) >= _PENDING_MAX or cuda.is_current_stream_capturing():
            return
        copy = self._torch.empty((), dtype=tensor.dtype, pin_memory=True)
        copy.copy_(tensor.detach().reshape(()), non_blocking=True)
        event = cuda.Event()
        event.record()
        self._pending.append((event, copy, arrived))
        self._pulse.late_waiting = True

    def take(self):
        while self._pending and self._pending[0][0].query():
            _, copy, arrived = self._pending.popleft()
            arrived(float(copy.item()))
        self._pulse.late_waiting = self.device.take() or bool(self._pending)
