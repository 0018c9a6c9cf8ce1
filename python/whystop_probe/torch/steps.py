"""Optimizer steps: the heartbeat of a training run."""

from time import perf_counter, thread_time

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet

_WHOLE_ATTENTION = 64  # The first steps get everything.
_ATTENTION_SHARE = 0.2  # Of the tokens that steps earn: for asking every observer whether it has something to do.
_PASSED_MAX = 256
_IDLE_STEPS_MAX = 16  # A first optimizer that stood still while another made so many steps has been replaced.


class Steps:
    """What is due now and then, behind the pulse. The first optimizer that steps counts the steps."""

    def __init__(self, training, late, learning_rates):
        self._training = training
        self._late = late
        self._rates = learning_rates
        self._others_since = 0
        self._first_steps_then = 0
        self._measured_then = 0.0
        self.on_other = []  # Called with an optimizer that is not the one of the step before, ahead of its step.
        self.after = None  # Called with the optimizer and the time after a step at which attention is due; True: again at the next.
        pulse = training.pulse
        pulse.other_optimizer = self._other_optimizer
        pulse.not_first = self._not_first
        pulse.attend = self._attend
        pulse.take_late = self._take_late
        pulse.odd_rate = learning_rates.number

    @quiet
    def _other_optimizer(self, optimizer):
        for listener in self.on_other:
            listener(optimizer)

    @quiet
    def _attend(self, optimizer, now):
        training = self._training
        pulse, governor = training.pulse, training.governor
        start, spent_then = thread_time(), governor.measured_s
        governor.keep_pace()
        if pulse.measured_s != self._measured_then:
            self._measured_then = pulse.measured_s
            governor.set_always_on(pulse.measured_s)
        if len(optimizer.param_groups) > 1:
            self._rates.rest(optimizer, pulse.step)
        again = self.after(optimizer, now)
        governor.spend("attention", 1, max(0.0, thread_time() - start - (governor.measured_s - spent_then)))
        passed = 0 if again or pulse.step < _WHOLE_ATTENTION else governor.steps_between("attention", _ATTENTION_SHARE)
        pulse.attention_at = pulse.step + 1 + min(passed, _PASSED_MAX)

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
