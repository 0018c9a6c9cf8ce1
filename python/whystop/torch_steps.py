"""Optimizer steps: the heartbeat of a training run."""

import weakref
from time import perf_counter, thread_time

from whystop import ring
from whystop.guard import quiet

_COST_EVERY = 16  # How often the hook's own time is measured.
_THINNED = 8  # Steps that come faster than the ring is read: one in so many is kept, besides the newest.
_THINNED_BELOW_S = 0.0003
_WHOLE_STEPS = 4000  # So many are kept in any case; they fit into the ring.
_OTHER_HOOKS = 1.5  # The hooks of a step together cost about so many times the one that is measured.
_FAST_S = 0.005
_REST_EVERY = 4
_WHOLE_ATTENTION = 64  # The first steps get everything.
_IDLE_STEPS_MAX = 16  # A first optimizer that stood still while another made so many steps has been replaced.


def _nobody():
    """Stands in for a weak reference to nothing."""


class Steps:
    """Hears every optimizer's step by torch's global hooks. The first optimizer that steps counts the steps."""

    def __init__(self, training, late, learning_rates):
        self._training = training
        self._late = late
        self._rates = learning_rates
        self._first = _nobody  # Weak: the probe keeps nothing alive.
        self._latest = _nobody
        self._others_since = 0
        self._fast = False  # Steps are short: only every few of them get more than a record.
        self._rest_due = True
        self._last_end = perf_counter()
        self.on_other = []  # Called with an optimizer that is not the one of the step before, ahead of its step.
        self.before_sampled = None  # Called ahead of a step whose update is to be measured.
        self.after = None  # Called with the optimizer and the time, after every step.

    @quiet
    def before_step(self, optimizer, args, kwargs):
        training = self._training
        training.inside_step = True
        if self._latest() is not optimizer:
            self._latest = weakref.ref(optimizer)
            for listener in self.on_other:
                listener(optimizer)
        self._rest_due = not self._fast or training.step % _REST_EVERY == 0
        if self._rest_due and training.governor.tokens_s > training.sample_cost_s:
            self.before_sampled(optimizer)

    @quiet
    def after_step(self, optimizer, args, kwargs):
        start = perf_counter()
        training = self._training
        measured = training.step % _COST_EVERY == 0
        cpu_start = thread_time() if measured else 0.0
        training.inside_step = False
        training.counts["steps"] += 1
        if self._first() is optimizer:
            self._others_since = 0
            self._record(optimizer, start)
        elif self._becomes_first(optimizer):
            self._record(optimizer, start)
        elif training.losses:
            self._record_other(optimizer)
        if self._rest_due:
            self.after(optimizer, start)
        if "step" in training.loop_kinds:
            training.loop_event("step")
        self._last_end = perf_counter()
        if measured:
            training.governor.set_always_on(_OTHER_HOOKS * (thread_time() - cpu_start))

    @quiet
    def skipped(self, optimizer):
        """The gradient scaler refused this step."""
        training = self._training
        training.counts["skipped_steps"] += 1
        loss = self._take_loss()
        training.step += 1
        training.channel.writer.step(training.step, loss, self._rates.first(optimizer), None, None, ring.STEP_SKIPPED)
        training.losses.clear()
        self._last_end = perf_counter()

    def _becomes_first(self, optimizer):
        """Nobody was first, or the first one is gone or stands still."""
        self._training.channel.open()  # A forked child that trains opens a ring of its own; else nothing happens.
        self._others_since += 1
        if self._first() is not None and self._others_since < _IDLE_STEPS_MAX:
            return False
        self._first = weakref.ref(optimizer)
        self._others_since = 0
        return True

    def _record(self, optimizer, now):
        training = self._training
        step = training.step = training.step + 1
        duration = now - self._last_end
        self._fast = duration < _FAST_S and step > _WHOLE_ATTENTION
        training.governor.earn(duration)
        losses = training.losses
        loss = losses.pop()[0] if len(losses) == 1 else self._take_loss()
        flags = 0
        if duration < _THINNED_BELOW_S and step > _WHOLE_STEPS and step % _THINNED:
            flags = ring.STEP_LAST_ONLY
        groups = optimizer.param_groups
        rate = groups[0].get("lr") if groups else None
        if type(rate) is not float:
            rate = self._rates.first(optimizer)
        training.channel.writer.step(step, loss, rate, training.wait_s, duration if step > 1 else None, flags)
        training.wait_s = 0.0
        if len(groups) > 1:
            self._rates.rest(optimizer, step)
        if self._late.waiting:
            self._late.take()

    def _record_other(self, optimizer):
        loss = self._take_loss()
        if loss is not None:
            name = f"loss/{type(optimizer).__name__}-2"
            self._training.channel.writer.scalar(name, ring.ROLE_OTHER, self._training.step, loss)

    def _take_loss(self):
        """The loss of this step: the sum over its backward passes (accumulation), of a closure the first one."""
        losses = self._training.losses
        known = [value for value, _ in losses if value is not None]
        closure = bool(losses) and losses[0][1]
        losses.clear()
        if not known:
            return None
        return known[0] if closure else sum(known)


class LearningRates:
    """Reads learning rates where they are used: in the optimizer's groups, at the step."""

    def __init__(self, training, reader):
        self._training = training
        self._reader = reader
        self._last = {}

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
