"""Values that live on a device, read when they have arrived and not a moment before."""

from whystop_probe.torch.device import DeviceReader


class LateValues:
    """Single values: losses, norms, loss scales. Every one is wanted, and costs the device next to nothing."""

    def __init__(self, torch, pulse):
        self._pulse = pulse
        self.device = DeviceReader(torch, pulse)  # Of more than one value.

    def put(self, tensor, arrived):
        """Calls arrived(value) from a later take(). Dropped when too many are under way or nothing can be copied."""
        self.device.bring([tensor], lambda here: arrived(float(here[0].item())), always=True)

    def take(self):
        self._pulse.late_waiting = self.device.take()
