"""Losses written by hand pass through none of torch's loss functions: ahead of the backward pass they are read off the graph."""

from whystop_probe.core.guard import quiet
from whystop_probe.torch.graph import saved, walk
from whystop_probe.torch.own_losses import LossReader
from whystop_probe.trial.intervention import Intervention

_DEPTH_MAX = 9
_ERRORS = {"PowBackward0": "mse_loss", "MulBackward0": "mse_loss", "AbsBackward0": "l1_loss"}


class ByHand(Intervention):
    """Stands first: tells the other parts of a loss of which they would not hear."""

    def __init__(self, torch, parts):
        super().__init__("", torch)
        self._reader = LossReader(torch)
        self._parts = parts
        self._heard = False  # One of torch's own was called since the last backward pass.

    def after_forward(self, module, output):
        values = output if isinstance(output, self.torch.Tensor) else None
        self._reader.outputs = values.detach() if values is not None and values.dim() else None
        return output

    def after_loss(self, function, call, result, input, target):
        self._heard = self._heard or result.requires_grad

    def before_backward(self, loss):
        heard, self._heard = self._heard, False
        if not heard:
            self._read(loss)

    @quiet
    def _read(self, loss):
        if not isinstance(loss, self.torch.Tensor) or loss.numel() != 1:
            return
        with self.torch.no_grad():
            found = self._reader.read(loss) or self._spread(loss)
        if found is not None:
            function, outputs, targets = found
            for part in self._parts:
                part.on_own_loss(function, self._asked(function), loss.detach(), outputs, targets)

    def _spread(self, loss):
        """Outputs in a column against targets in a row: a table of all pairs."""
        outputs = self._reader.outputs
        if outputs is None or outputs.dim() != 2 or outputs.shape[1] != 1 or outputs.shape[0] < 2:
            return None
        count = outputs.shape[0]
        for depth, node in walk(loss.grad_fn):
            error = saved(node, "_saved_self") if node.name() in _ERRORS else None
            if depth > _DEPTH_MAX or error is None or error.shape != (count, count):
                continue
            for part in self._parts:
                part.on_spread_loss()
            turned = bool((error[:1] - error[1:2]).sub(outputs[0] - outputs[1]).abs().max() > 1e-3 * error.abs().max())
            targets = outputs[0] + error[0] if turned else outputs[0] - error[0]
            return _ERRORS[node.name()], outputs.reshape(-1), targets
        return None

    def _asked(self, function):
        functional = self.torch.nn.functional
        if function == "rmse_loss":
            return lambda input, target: functional.mse_loss(input, target).sqrt()
        return getattr(functional, function)
