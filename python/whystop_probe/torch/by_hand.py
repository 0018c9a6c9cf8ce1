"""Updates by hand: weights that change though no optimizer of torch's ever stepped (`w -= lr * w.grad`, functional optimizers)."""

from math import isfinite

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.torch.graph import leaves

_ACCUMULATED_MAX = 64  # Backward passes without a step, where there is an optimizer: it may still be gathering gradients.
_KEPT_AT = 2  # The first pass may belong to a check of the gradients.
_COMPARED = (4, 16, 64, 256, 1024)
_ELEMENTS_MAX = 1 << 20
_TENSORS_MAX = 64
_LOSSES_DENSE = 4096  # Later losses are thinned: they are written one by one.


class ByHand:
    """Told of the backward passes (and of `torch.autograd.grad`) as long as no optimizer has stepped."""

    def __init__(self, torch, training, optimizers, parameters):
        self._torch = torch
        self._training = training
        self._optimizers = optimizers
        self._parameters = parameters
        self.on_first = None  # Called once, ahead of the first pass of a program that has no optimizer.
        self._passes = 0
        self._kept = None  # Values of the weights, in the order of the graph.
        self.gradients = 0  # Calls of torch.autograd.grad.

    @quiet
    def on_grad(self, outputs, *rest):
        """Of torch.autograd.grad: also used for gradient penalties and the like, so only without any optimizer."""
        self.gradients += 1
        root = outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs
        if self._optimizers.count == 0 and self._training.pulse.backwards == 0 and isinstance(root, self._torch.Tensor):
            self._look(root, "value given to grad()")

    @quiet
    def on_backward(self, root):
        """Called by the pulse ahead of a backward pass, while no optimizer has stepped."""
        self._look(root, "loss")

    def _look(self, root, series):
        self._passes += 1
        if self._passes == 1 and self._optimizers.count == 0:
            self.on_first()
        if type(root) is not self._torch.Tensor or not root.is_cpu or root.numel() != 1:
            return
        if self._optimizers.count == 0 or self._passes > _ACCUMULATED_MAX:
            self._tell_loss(root, series)
        if self._passes == _KEPT_AT:
            self._kept = self._weights(root)
            if self._optimizers.count == 0:
                self._parameters.tell_initial_of((f"tensor{index}", tensor) for index, tensor in enumerate(self._kept) if tensor.dim() >= 2)
        elif self._passes in _COMPARED and self._kept:
            self._compare(self._weights(root))

    def _tell_loss(self, root, series):
        if self._passes > _LOSSES_DENSE and self._passes % 16:
            return
        value = float(root.detach())
        self._training.channel.open()
        self._training.channel.writer.scalar(series, ring.ROLE_TRAIN_LOSS, self._passes, value)

    def _weights(self, root):
        found, elements = [], 0
        for leaf in leaves(root, self._torch.nn.Parameter):
            elements += leaf.numel()
            if elements > _ELEMENTS_MAX or len(found) >= _TENSORS_MAX:
                break
            found.append(leaf.detach().clone())
        return found

    def _compare(self, now):
        changed, sizes = 0, []
        for before, after in zip(self._kept, now):
            if before.shape != after.shape:
                continue
            change, size = float((after - before).norm()), float(before.norm())
            changed += change > 0
            if size > 0 and isfinite(change):
                sizes.append(change / size)
        self._training.channel.observe(
            "updates-by-hand",
            self._passes,
            backwards=self._passes,
            tensors=len(self._kept),
            changed=changed,
            relative_change=sorted(sizes)[len(sizes) // 2] if sizes else None,
            optimizers=self._optimizers.count,
        )
