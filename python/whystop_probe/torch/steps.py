"""Optimizer steps: the heartbeat of a training run."""

from time import perf_counter

from whystop_probe.core import ring
from whystop_probe.core.attention import Attention
from whystop_probe.core.guard import quiet

_IDLE_STEPS_MAX = 16  # A first optimizer that stood still while another made so many steps has been replaced.


class Steps:
    """What is due now and then, behind the pulse. The first optimizer that steps counts the steps."""

    def __init__(self, training, late, learning_rates):
        self._training = training
        self._late = late
        self._rates = learning_rates
        self._others_since = 0
        self._first_steps_then = 0
        self.on_other = []  # Called with an optimizer that is not the one of the step before, ahead of its step.
        self.after = None  # Called with the optimizer and the time after a step at which attention is due; True: again at the next.
        pulse = training.pulse
        pulse.other_optimizer = self._other_optimizer
        pulse.not_first = self._not_first
        self._attention = Attention(training, self._attend)
        pulse.take_late = self._take_late
        pulse.odd_rate = learning_rates.number

    @quiet
    def _other_optimizer(self, optimizer):
        for listener in self.on_other:
            listener(optimizer)

    def _attend(self, optimizer, now):
        if len(optimizer.param_groups) > 1:
            self._rates.rest(optimizer, self._training.step)
        return self.after(optimizer, now)

    @quiet
    def _take_late(self):
        self._late.take()

    @quiet
    def skipped(self, optimizer):
        """The gradient scaler refused this step."""
        training = self._training
        pulse = training.pulse
        training.skipped_steps += 1
        pulse.step += 1
        training.channel.writer.step(pulse.step, pulse.take_loss(), self._rates.first(optimizer), None, None, ring.STEP_SKIPPED)
        pulse.last_end_s = perf_counter()

    @quiet
    def _not_first(self, optimizer):
        """Makes it the first if there is none, or if the first one is gone or stands still; else notes its loss."""
        training = self._training
        pulse = training.pulse
        training.channel.open()  # A forked child that trains opens a ring of its own; else nothing happens.
        if self._first_steps_then != pulse.step:
            self._first_steps_then = pulse.step
            self._others_since = 0
        self._others_since += 1
        if pulse.first() is None or self._others_since >= _IDLE_STEPS_MAX:
            pulse.set_first(optimizer)
            self._others_since = 0
        elif pulse.losses:
            self._record_other(optimizer)

    def _record_other(self, optimizer):
        loss = self._training.pulse.take_loss()
        if loss is not None:
            self._training.other_losses += 1
            name = f"loss/{type(optimizer).__name__}-2"
            self._training.channel.writer.scalar(name, ring.ROLE_OTHER, self._training.step, loss)


class LearningRates:
    """Reads learning rates where they are used: in the optimizer's groups, at the step."""

    def __init__(self, training, reader):
        self._training = training
        self._reader = reader
        self._last = {}

    @quiet
    def number(self, rate):
        return self._reader.number(rate)

    def first(self, optimizer):
        groups = optimizer.param_groups
        rate = groups[0]["lr"] if groups and "lr" in groups[0] else None
        return rate if type(rate) is float or rate is None else self._reader.number(rate)

    def rest(self, optimizer, step):
        """The other groups' rates, written when they change."""
        groups = optimizer.param_groups
        for index in range(1, min(len(groups), 16)):
            rate = self._reader.number(groups[index].get("lr"))
            if rate is not None and self._last.get(index) != rate:
                self._last[index] = rate
                self._training.channel.writer.scalar(f"lr/group{index}", ring.ROLE_OTHER, step, rate)
