"""What must happen at every step of a training: the pulse. The extension has the same in C; this is its stand-in.

Whoever observes something sets a listener here (`attend`, `loop_event`, ...) and says when it is due (`attention_at`, `kinds`,
`loop_skip`, `data_due_in`); all other steps cost a record and no more.
"""

import weakref
from math import isfinite
from time import perf_counter

from whystop_probe.core import ring

STEP, ZERO_GRAD, LOSS, BACKWARD, DATA, DATA_END = 1, 2, 4, 8, 16, 32
KINDS = {"step": STEP, "zero_grad": ZERO_GRAD, "loss": LOSS, "backward": BACKWARD, "data": DATA, "data-end": DATA_END}
ALL_KINDS = sum(KINDS.values())
_THINNED = 8  # Steps that come faster than the ring is read: one in so many is kept, besides the newest.
_THINNED_BELOW_S = 0.0003
_WHOLE_STEPS = 4000  # So many are kept in any case; they fit into the ring.
_MEASURED_EVERY = 64  # How often the hooks' own time is measured.
_TOKENS_MAX_S = 0.25  # What a quiet stretch may save up: one pass over a large model.
_TOKENS_MIN_S = -0.01  # A debt that an alarm or a first time left is forgotten beyond this: a short run must not pay for it all along.


def _nobody():
    """Stands in for a weak reference to nothing."""


class PurePulse:
    """One a process. Attributes are plain values; the listeners may be None."""

    other_optimizer = None  # (optimizer): another one than before is about to step.
    sampling = None  # (optimizer): attention is due behind this step, and there are tokens.
    not_first = None  # (optimizer): one that does not count the steps has stepped; may call set_first().
    attend = None  # (optimizer, now): the step at which attention is due was made.
    take_late = None  # (): values that were under way from a device may have arrived.
    loop_event = None  # (kind): something happened in the training loop.
    strange_loss = None  # (tensor): a loss that cannot be read at once.
    nonfinite_loss = None  # (value, tensor)
    look_at_loss = None  # (tensor): the backward pass number loss_due_at begins. 0: none is wanted.
    unstepped = None  # (tensor): a backward pass begins, and no optimizer has stepped yet.
    odd_rate = None  # (rate) -> number or None, of a learning rate that is no float.
    look_at_batch = None  # (batch, iterator): data_pending has reached data_due_in.
    other_iterator = None  # (iterator): another one than before gives a batch.

    def __init__(self):
        self.step = self.steps = self.backwards = self.zeroed_at = self.batches = 0
        self.loop_skip = self.attention_at = self.data_pending = self.data_due_in = self.loss_due_at = self.kinds = self.losses = 0
        self.tokens_s = self.spent_s = self.share = self.always_s = self.sample_cost_s = self.wait_s = self.measured_s = 0.0
        self.duration_s = self.elapsed_s = 0.0  # Of the last step; of all, with what is done behind them.
        self.last_end_s = perf_counter()
        self.inside_step = self.late_waiting = False
        self.tensor_type = self.item = self.is_cpu = self.unscaled = self._writer = None
        self.first = self._latest = self._iterator = _nobody
        self._wait_began_s = self._hooks_s = 0.0
        self._known = []
        self._closure = False

    def set_writer(self, writer):
        self._writer = writer

    def set_first(self, optimizer):
        self.first = weakref.ref(optimizer)

    def forget(self):
        """A forked child: whoever steps next is a stranger."""
        self.first = self._latest = _nobody

    def before_step(self, optimizer, *rest):
        self.inside_step = True
        if self._latest() is not optimizer:
            self._latest = weakref.ref(optimizer)
            self.other_optimizer(optimizer)
        if self.step + 1 >= self.attention_at and self.tokens_s > self.sample_cost_s:
            self.sampling(optimizer)

    def after_step(self, optimizer, *rest):
        now = perf_counter()
        self.inside_step = False
        self.duration_s = now - self.last_end_s
        self.elapsed_s += self.duration_s
        if self.first() is not optimizer:
            self.not_first(optimizer)
        if self.first() is optimizer:
            self._record(optimizer)
        if self.steps % _MEASURED_EVERY == 0:
            self.measured_s = self._hooks_s + perf_counter() - now
            self._hooks_s = 0.0
        self.steps += 1
        if self.late_waiting:
            self.take_late()
        if self.step >= self.attention_at:
            self.attend(optimizer, now)
        if self.kinds & STEP:
            if self.loop_skip > 0:
                self.loop_skip -= 1
            else:
                self.loop_event("step")
        self.last_end_s = perf_counter()
        self.elapsed_s += self.last_end_s - now  # Who waits for a processor mostly does so here.

    def made(self, stepper, loss, steps=1):
        """So many steps were made in one go; the loss is their mean, or None where it is not known yet."""
        self.step += steps - 1
        self.steps += steps - 1
        self.backwards += steps
        self.batches += steps
        if self.kinds & BACKWARD:
            self.loop_event("backward")
        if loss is None:
            self.loss_is_late()
        else:
            self._add_loss(loss, None)
        self.after_step(stepper)

    def late_loss(self, step, loss):
        """The loss of a step that was made before."""
        if self._writer is not None:
            self._writer.scalar("loss", ring.ROLE_TRAIN_LOSS, step, loss)
        if not isfinite(loss):
            self.nonfinite_loss(loss, None)

    def before_backward(self, tensors, *rest):
        began = perf_counter()
        self.backwards += 1
        if self.kinds & BACKWARD:
            self.loop_event("backward")
        root, self.unscaled = self.unscaled, None
        if root is None:
            root = tensors if not isinstance(tensors, (list, tuple)) else (tensors[0] if len(tensors) == 1 else None)
        if root is None:
            return
        if 0 < self.loss_due_at <= self.backwards:
            self.loss_due_at = 0
            self.look_at_loss(root)
        if self.steps == 0 and self.unstepped is not None:
            self.unstepped(root)
        if type(root) is self.tensor_type and root.is_cpu:
            self._note_loss(root)
        else:
            self.strange_loss(root)
        if self.steps % _MEASURED_EVERY == 0:
            self._hooks_s += perf_counter() - began

    def before_next(self, iterator):
        self._wait_began_s = perf_counter()

    def after_next(self, batch, iterator):
        self.wait_s += perf_counter() - self._wait_began_s
        self.batches += 1
        if self._iterator() is not iterator:
            self.other_iterator(iterator)
            self._iterator = weakref.ref(iterator)
            self.data_pending = self.data_due_in = 0
        self.data_pending += 1
        if self.data_pending >= self.data_due_in:
            self.look_at_batch(batch, iterator)
        if self.kinds & DATA:
            self.loop_event("data")

    def loss_is_late(self):
        """A loss that is on its way from a device counts as one of the step's, without a value."""
        self._closure = self.inside_step if self.losses == 0 else self._closure
        self.losses += 1

    def take_loss(self):
        """The loss of this step: the sum over its backward passes (accumulation), of a closure the first one."""
        known, self._known = self._known, []
        self.losses = 0
        if not known:
            return None
        return known[0] if self._closure else sum(known)

    def _note_loss(self, root):
        try:
            value = root.item()
        except RuntimeError:
            return  # More than one value: the gradient was given by hand, there is no loss.
        self._add_loss(value, root)

    def _add_loss(self, value, root):
        self.loss_is_late()
        self._known.append(value)
        if not isfinite(value):
            self.nonfinite_loss(value, root)

    def _record(self, optimizer):
        self.step += 1
        duration = self.duration_s
        self.spent_s += self.always_s
        self.tokens_s = max(min(self.tokens_s + self.share * duration, _TOKENS_MAX_S), _TOKENS_MIN_S)
        groups = optimizer.param_groups
        rate = groups[0].get("lr") if groups else None
        if type(rate) is not float and rate is not None:
            rate = self.odd_rate(rate)
        thinned = duration < _THINNED_BELOW_S and self.step > _WHOLE_STEPS and self.step % _THINNED
        flags = ring.STEP_LAST_ONLY if thinned else 0
        loss, wait, self.wait_s = self.take_loss(), self.wait_s, 0.0
        if self._writer is not None:
            self._writer.step(self.step, loss, rate, wait, duration if self.step > 1 else None, flags)


class PureBell:
    """Counts calls of a function; due(*arguments) is called at call number `due_at`."""

    def __init__(self, pulse, kind, name, due):
        self._pulse, self._kind, self._name, self._due = pulse, kind, name, due
        self.count = self.due_at = 0

    def __call__(self, *arguments):
        self.count += 1
        if self._kind == ZERO_GRAD:
            self._pulse.zeroed_at = self._pulse.backwards
        if self.count == self.due_at:
            self._due(*arguments)
        if self._pulse.kinds & self._kind:
            self._pulse.loop_event(self._name)


Pulse = ring.native.Pulse if ring.native is not None else PurePulse
Bell = ring.native.Bell if ring.native is not None else PureBell
