"""Memory of CUDA devices, as torch's own allocator counts it. Asked only where CUDA is in use already."""

from whystop_probe.core.guard import quiet

_EVERY_S = 5.0
_DEVICES_MAX = 16
_FIGURES = {
    "allocated": "allocated_bytes.all.current",
    "allocated_peak": "allocated_bytes.all.peak",
    "reserved": "reserved_bytes.all.current",
    "reserved_peak": "reserved_bytes.all.peak",
    "inactive_split": "inactive_split_bytes.all.current",
    "retries": "num_alloc_retries",
    "ooms": "num_ooms",
}


class DeviceMemory:
    """Reads counters that live in the host's memory: no device is waited for, and none is woken."""

    def __init__(self, torch, training):
        self._torch = torch
        self._training = training
        self._last = 0.0
        self._told = {}

    def after_step(self, now):
        if now - self._last >= _EVERY_S:
            self._last = now
            self.tell()

    @quiet
    def tell(self):
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return
        for device in range(min(cuda.device_count(), _DEVICES_MAX)):
            stats = cuda.memory_stats(device)
            figures = {name: stats[key] for name, key in _FIGURES.items() if key in stats}
            if figures and any(figures.values()) and self._told.get(device) != figures:
                self._told[device] = figures
                self._training.channel.observe("device-memory", self._training.step, device=device, **figures)
