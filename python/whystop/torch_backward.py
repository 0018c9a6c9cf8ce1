"""Backward passes: where the loss is seen, whatever the user's code calls it."""

from math import isfinite

from whystop import ring
from whystop.guard import quiet


class Backwards:
    """Listens to torch.autograd.backward, which Tensor.backward and every framework end in."""

    def __init__(self, torch, training, late):
        self._tensor = torch.Tensor
        self._training = training
        self._late = late
        self._unscaled = None  # What GradScaler.scale was given, until the backward pass of its product.
        self.on_nonfinite = None

    @quiet
    def before_backward(self, tensors, *rest):
        training = self._training
        training.counts["backwards"] += 1
        if "backward" in training.loop_kinds:
            training.loop_event("backward")
        loss, self._unscaled = self._unscaled, None
        if loss is None:
            loss = tensors if not isinstance(tensors, (list, tuple)) else (tensors[0] if len(tensors) == 1 else None)
        if loss is None:
            return
        if type(loss) is not self._tensor or not loss.is_cpu:
            self._read_late(loss)
            return
        try:
            value = loss.item()
        except RuntimeError:
            return  # More than one value: the gradient was given by hand, there is no loss.
        training.losses.append((value, training.inside_step))
        if not isfinite(value) and self.on_nonfinite is not None:
            self.on_nonfinite(value, loss)

    def _read_late(self, loss):
        training = self._training
        if loss.numel() != 1:
            return
        step = training.step + 1
        training.losses.append((None, training.inside_step))
        self._late.put(loss, lambda value: training.channel.writer.scalar("loss", ring.ROLE_TRAIN_LOSS, step, value))

    @quiet
    def before_scale(self, scaler, outputs, *rest):
        """GradScaler multiplies the loss before the backward pass: the real one is its input."""
        if hasattr(outputs, "numel") and outputs.numel() == 1:
            self._unscaled = outputs

    @quiet
    def failed(self, error, tensors, *rest):
        self._training.channel.observe("call-failed", self._training.step, call="backward", type=type(error).__name__, message=str(error)[:400])
