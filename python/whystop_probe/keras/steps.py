"""Steps of a Keras model: one a batch that `fit` or `train_on_batch` trained on, or one a call of an optimizer."""

from whystop_probe.core import ring
from whystop_probe.core.attention import Attention
from whystop_probe.core.guard import quiet

_IDLE_STEPS_MAX = 16  # A first optimizer that stood still while another made so many steps has been replaced.
_TELL_EVERY_S = 5.0


class Loss:
    """A number in the shape in which the pulse takes losses."""

    __slots__ = ("value",)
    is_cpu = property(lambda self: True)

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class Stepper:
    """Stands for one optimizer at the pulse, which reads the learning rate where torch's optimizers keep it."""

    __slots__ = ("param_groups", "__weakref__")

    def __init__(self):
        self.param_groups = [{}]

    def set_rate(self, rate):
        if rate is None:
            self.param_groups[0].pop("lr", None)
        else:
            self.param_groups[0]["lr"] = rate


class _Count:
    def __init__(self):
        self.count = 0


class Steps:
    """Feeds the pulse, and asks for attention as often as the governor allows."""

    def __init__(self, training, tell_totals):
        self._training = training
        self._tell_totals = tell_totals
        self._others_since = self._steps_then = 0
        self._told_at = 0.0
        self.attend = None  # (stepper) after a step at which attention is due; True: again at the next.
        self.nonfinite = None  # (value)
        # A step of Keras is a gradient made anew of one call of the loss: both are counted with it.
        self._bells = [_Count(), _Count()]
        training.bells["zero_grads"].append(self._bells[0])
        training.bells["loss_calls"].append(self._bells[1])
        pulse = training.pulse
        pulse.tensor_type, pulse.item, pulse.is_cpu = Loss, Loss.item, Loss.is_cpu
        pulse.nonfinite_loss = self._nonfinite
        pulse.not_first = self._not_first
        self._attention = Attention(training, self._attend)
        pulse.other_optimizer = pulse.strange_loss = pulse.sampling = self._ignore
        pulse.take_late = self._ignore

    @quiet
    def made(self, stepper, loss, batches=1):
        """`batches` steps were made in one go; the loss is their mean, or None where it is not known yet."""
        pulse = self._training.pulse
        if batches > 1:
            pulse.step += batches - 1
            pulse.steps += batches - 1
        pulse.backwards += batches - 1
        if loss is None:
            pulse.backwards += 1
            pulse.loss_is_late()
        else:
            pulse.before_backward(Loss(loss))
        pulse.batches += batches
        for bell in self._bells:
            bell.count += batches
        pulse.after_step(stepper)

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
        self.made(stepper, loss)

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
