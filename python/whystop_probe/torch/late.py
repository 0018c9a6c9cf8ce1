"""Values that live on a device, read when they have arrived and not a moment before."""

from time import thread_time

from whystop_probe.torch.device import DeviceReader

_TOGETHER_S = 0.03  # Losses of so many seconds are copied in one go: sending a copy takes the host some tens of microseconds.
_TOGETHER_MAX = 32


class LateValues:
    """Single values: losses, norms, loss scales. Every one is wanted, and costs the device next to nothing."""

    def __init__(self, torch, training):
        self._torch = torch
        self._training = training
        self._losses = []  # (step, loss without its graph, its version) that were not sent yet.
        self._arrived = None
        self.device = DeviceReader(torch, training.pulse)  # Of more than one value.

    def put(self, tensor, arrived):
        """Calls arrived(value) from a later take(). Dropped when too many are under way or nothing can be copied."""
        self.device.bring([tensor], lambda here: arrived(float(here[0].item())), always=True)

    def put_loss(self, loss, arrived):
        """Calls arrived(step, value) from a later take(), as put() does. Of losses that were written to since, never."""
        if self.device.refuses(loss):
            return
        pulse = self._training.pulse
        self._arrived = arrived
        self._losses.append((pulse.step + 1, loss.detach(), loss._version))
        if len(self._losses) >= min(_TOGETHER_S / max(self._training.governor.step_s, 1e-6), _TOGETHER_MAX):
            self.send()

    def send(self):
        """Sends the losses that wait for company."""
        waiting, self._losses = self._losses, []
        kinds = {}
        for step, loss, version in waiting:
            if loss._version == version:
                kinds.setdefault((loss.dtype, loss.device), []).append((step, loss))
        for items in kinds.values():
            self._send_alike([step for step, _ in items], [loss for _, loss in items], self._arrived)

    def _send_alike(self, steps, losses, arrived):
        def give(here):
            for step, value in zip(steps, here[0].tolist()):
                arrived(step, value)

        start = thread_time()
        with self._torch.no_grad():
            row = self._torch.stack([loss.reshape(()) if loss.dim() else loss for loss in losses])
        self.device.bring([row], give, always=True)
        self._training.governor.spend("late", 1, thread_time() - start)

    def take(self):
        start = thread_time()
        self._training.pulse.late_waiting = self.device.take()
        self._training.governor.spend("taken", 1, thread_time() - start)
