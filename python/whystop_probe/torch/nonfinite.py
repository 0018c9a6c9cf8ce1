"""The first NaN or infinity: what turned non-finite first, at which step, under which name."""

import math

from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text
from whystop_probe.torch.graph import find_origin

_REPORTS_MAX = 8
_LOOKED_AT = frozenset([1, 2, 10, 100, 1000])  # Of the non-finite losses: the first tells the origin, later ones how it went on.


class NonFinite:
    """On the first sign of a non-finite value, one full pass at once; the budget does not matter then."""

    def __init__(self, training, reader, optimizers, parameters):
        self._training = training
        self._reader = reader
        self._optimizers = optimizers
        self._parameters = parameters
        self._reports = 0
        self._losses = 0
        self.on_alarm = []

    @quiet
    def on_loss(self, value, loss):
        """Before the backward pass of a non-finite loss: whatever is bad now was bad before it. A loss that came from a device is
        None: it is too late to ask what came first."""
        self._losses += 1
        if self._losses not in _LOOKED_AT:
            return
        if loss is None:
            self._report("loss", loss=value)
            return
        bad_weights = []
        for optimizer in list(self._optimizers._known):
            bad_weights += self._parameters.full_pass(optimizer)[1]
        origin = None
        if not self._training.saved_hooks and not self._training.compiled:
            origin = find_origin(loss, self._reader)
        bad_input = origin is not None and origin.leaf and not bad_weights
        first = "weight" if bad_weights else "input" if bad_input else "loss"
        self._report(first, loss=value, weights=bad_weights, origin=origin)

    @quiet
    def after_step(self, optimizer):
        if self._reports or not self._parameters.gradient_nearest_input_is_nonfinite():
            return
        gradients, weights = self._parameters.full_pass(optimizer)
        self._report("gradient", gradients=gradients, weights=weights)

    @quiet
    def on_clip_norm(self, norm):
        if math.isfinite(norm) or self._reports:
            return
        gradients = []
        for optimizer in list(self._optimizers._known):
            gradients += self._parameters.full_pass(optimizer)[0]
        self._report("gradient", gradients=gradients, norm=norm)

    def _report(self, first, loss=None, gradients=(), weights=(), origin=None, norm=None):
        if self._reports >= _REPORTS_MAX:
            return
        self._reports += 1
        self._training.channel.observe(
            "nonfinite",
            self._training.step,
            first=first,
            report=self._reports,
            loss=loss,
            gradients=len(gradients),
            gradient_names=names_text(list(gradients)),
            weights=len(weights),
            weight_names=names_text(list(weights)),
            operation=origin.node if origin is not None else None,
            operand=origin.saved if origin is not None else None,
            operand_shape=origin.shape if origin is not None else None,
            operand_from_outside=origin.leaf if origin is not None else None,
            clip_norm=norm,
        )
        for listener in self.on_alarm:
            listener()
