"""The first NaN or infinity: what turned non-finite first, at which step, under which name."""

import math

from whystop.guard import quiet
from whystop.torch_model import names_text

_REPORTS_MAX = 8


class NonFinite:
    """On the first sign of a non-finite value, one full pass at once; the budget does not matter then."""

    def __init__(self, training, optimizers, parameters):
        self._training = training
        self._optimizers = optimizers
        self._parameters = parameters
        self._reports = 0
        self._loss_was_finite = True
        self._last_finite_loss = None
        self.inputs_seen = None  # Set by the observers of data: () -> True, False or None.
        self.on_alarm = []

    @quiet
    def on_loss(self, value):
        """Before the backward pass of a non-finite loss: whatever is bad now was bad before it."""
        if not self._loss_was_finite:
            return
        self._loss_was_finite = False
        bad_weights = []
        for optimizer in list(self._optimizers._known):
            bad_weights += self._parameters.full_pass(optimizer)[1]
        bad_input = self.inputs_seen() if self.inputs_seen is not None else None
        first = "weight" if bad_weights else "input" if bad_input else "loss"
        self._report(first, loss=value, weights=bad_weights, bad_input=bad_input)

    @quiet
    def after_step(self, optimizer):
        if self._training.losses == [] and not self._loss_was_finite:
            self._loss_was_finite = True  # Look again at the next loss; the number of reports is bounded.
        if self._reports or not self._parameters.gradient_nearest_input_is_nonfinite(optimizer):
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

    def _report(self, first, loss=None, gradients=(), weights=(), bad_input=None, norm=None):
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
            bad_input=bad_input,
            clip_norm=norm,
        )
        for listener in self.on_alarm:
            listener()
