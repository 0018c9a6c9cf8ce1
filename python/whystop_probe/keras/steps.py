"""Steps of a Keras model: one a batch that `fit` or `train_on_batch` trained on, or one a call of an optimizer."""

from whystop_probe.core import ring
from whystop_probe.core.attention import Attention
from whystop_probe.core.guard import quiet

_IDLE_STEPS_MAX = 16  # A first optimizer that stood still while another made so many steps has been replaced.
_TELL_EVERY_S = 5.0


class Stepper:
    """Stands for one optimizer at the pulse, which reads the learning rate where torch's optimizers keep it."""

    __slots__ = ("param_groups", "_last", "__weakref__")

    def __init__(self):
        self.param_groups = [{}]
        self._last = None  # The rate as it was read.

    def set_rate(self, rate):
        """Of an array of one value, or None. Returns it as it is meant, by way of its shortest text: a float32 of 0.001 as 0.001."""
        group = self.param_groups[0]
        if rate is None:
            group.pop("lr", None)
            return None
        value = rate.item()
        if "lr" not in group or value != self._last:
            self._last, group["lr"] = value, float(str(rate[()]))
        return group["lr"]


class _Count:
    """A step of Keras is a gradient made anew of one call of the loss: both are counted with it, `unless` it is known better."""

    def __init__(self, pulse, unless=lambda: False):
        self._pulse = pulse
        self._unless = unless

    @property
    def count(self):
        return 0 if self._unless() else self._pulse.backwards


class Steps:
    """Feeds the pulse, and asks for attention as often as the governor allows."""

    def __init__(self, training, tell_totals):
        self._training = training
        self._tell_totals = tell_totals
        self._others_since = self._steps_then = 0
        self._told_at = 0.0
        self.attend = None  # (stepper) after a step at which attention is due; True: again at the next.
        self.nonfinite = None  # (value)
        pulse = training.pulse
        self.never_cleared = lambda: False
        training.bells["zero_grads"].append(_Count(pulse, lambda: self.never_cleared()))
        training.bells["loss_calls"].append(_Count(pulse))
        pulse.nonfinite_loss = self._nonfinite
        pulse.not_first = self._not_first
        self._attention = Attention(training, self._attend)
        pulse.other_optimizer = pulse.strange_loss = pulse.sampling = self._ignore
        pulse.take_late = self._ignore

    @quiet
    def made_in_loop(self, stepper, loss, name):
        """A step of a loop that is not Keras's own. The first optimizer that steps counts; the loss of another is a series apart."""
        pulse = self._training.pulse
        first = pulse.first()
        if first is not None and first is not stepper:
            self._others_since = self._others_since + 1 if self._steps_then == pulse.step else 1
            self._steps_then = pulse.step
            if self._others_since < _IDLE_STEPS_MAX:
                if loss is not None:
                    self._training.channel.writer.scalar(f"loss/{name}-2", ring.ROLE_OTHER, pulse.step, loss)
                return
        pulse.made(stepper, loss)

    @quiet
    def _ignore(self, *rest):
        return None

    @quiet
    def _not_first(self, stepper):
        self._training.channel.open()  # A forked child that trains opens a ring of its own; else nothing happens.
        self._training.pulse.set_first(stepper)

    @quiet
    def _nonfinite(self, value, loss):
        self.nonfinite(value)

    def _attend(self, stepper, now):
        again = self.attend(stepper)
        if now - self._told_at >= _TELL_EVERY_S:
            self._told_at = now
            self._tell_totals(self._training)
        return again
