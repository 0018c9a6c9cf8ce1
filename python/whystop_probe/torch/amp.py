"""Gradient scaling, clipping and zeroing: what happens to gradients between backward and step."""

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet


class Gradients:
    def __init__(self, training, reader, late, steps):
        self._training = training
        self._reader = reader
        self._late = late
        self._steps = steps
        self._steps_before = None
        self._scale = None
        self._zeroed_at = -1
        self._described_clip = False
        self.on_clip_norm = None

    @quiet
    def before_scaler_step(self, scaler, optimizer, *rest):
        self._steps_before = self._training.pulse.steps

    @quiet
    def after_scaler_step(self, result, scaler, optimizer, *rest):
        if self._steps_before == self._training.pulse.steps:
            self._steps.skipped(optimizer)

    @quiet
    def after_scaler_update(self, result, scaler, *rest):
        scale = getattr(scaler, "_scale", None)
        if scale is None:
            return
        value = self._reader.number(scale)
        if value is None:
            self._late.put(scale, self._note_scale)
        else:
            self._note_scale(value)

    def _note_scale(self, value):
        if value != self._scale:
            self._scale = value
            self._training.channel.writer.scalar("loss_scale", ring.ROLE_LOSS_SCALE, self._training.step, value)

    @quiet
    def after_clip_norm(self, norm, parameters, max_norm, *rest):
        """clip_grad_norm_ returns the norm before clipping: nobody else sees it."""
        training = self._training
        if not self._described_clip:
            self._described_clip = True
            training.channel.observe("clip", training.step, how="norm", max_norm=self._reader.number(max_norm))
        value = self._reader.number(norm)
        step = training.step + 1
        if value is None:
            self._late.put(norm, lambda late: training.channel.writer.scalar("grad_norm", ring.ROLE_GRADIENT_NORM, step, late))
            return
        training.channel.writer.scalar("grad_norm", ring.ROLE_GRADIENT_NORM, step, value)
        if self.on_clip_norm is not None:
            self.on_clip_norm(value)

    @quiet
    def before_clip_value(self, parameters, clip_value, *rest):
        if not self._described_clip:
            self._described_clip = True
            self._training.channel.observe("clip", self._training.step, how="value", max_value=self._reader.number(clip_value))
