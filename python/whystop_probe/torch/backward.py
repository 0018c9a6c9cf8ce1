"""Backward passes: where the loss is seen, whatever the user's code calls it."""

from math import isfinite

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.torch.graph import broadcast_difference, layers_of


class Backwards:
    """What the pulse leaves of torch.autograd.backward, which Tensor.backward and every framework end in."""

    def __init__(self, torch, training, late):
        self._training = training
        self._late = late
        self.on_nonfinite = None
        training.pulse.tensor_type, training.pulse.item = torch.Tensor, torch.Tensor.item
        training.pulse.is_cpu = property(lambda tensor: False) if late.device.forced else torch.Tensor.is_cpu
        training.pulse.strange_loss = self._read_late
        training.pulse.nonfinite_loss = self._nonfinite

    @quiet
    def _nonfinite(self, value, loss):
        self.on_nonfinite(value, loss)

    @quiet
    def on_first(self, loss):
        layers = None if self._training.compiled else layers_of(loss)
        if layers is not None:
            self._training.channel.observe("layers", self._training.step, chained=layers[0], nonlinear=layers[1], narrows=layers[2])
        found = broadcast_difference(loss)
        if found is not None:
            shapes = ["x".join(map(str, shape)) for shape in found]
            self._training.channel.observe("broadcast-difference", self._training.step, output_shape=shapes[0], shape=shapes[1])

    @quiet
    def _read_late(self, loss):
        if loss.numel() == 1:
            self._training.pulse.loss_is_late()
            self._late.put_loss(loss, self._arrived)

    @quiet
    def _arrived(self, step, value):
        self._training.channel.writer.scalar("loss", ring.ROLE_TRAIN_LOSS, step, value)
        if not isfinite(value):
            self.on_nonfinite(value, None)

    @quiet
    def before_scale(self, scaler, outputs, *rest):
        """GradScaler multiplies the loss before the backward pass: the real one is its input."""
        if hasattr(outputs, "numel") and outputs.numel() == 1:
            self._training.pulse.unscaled = outputs

    @quiet
    def failed(self, error, tensors, *rest):
        self._training.channel.observe("call-failed", self._training.step, call="backward", type=type(error).__name__, message=str(error)[:400])
