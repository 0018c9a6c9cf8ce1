"""Follows the training loop: plan, progress and exit, from the events of the training."""

import sys
from threading import get_ident
from time import thread_time

from whystop_probe.core.guard import quiet
from whystop_probe.loop.exits import Exits
from whystop_probe.loop.nest import UNEARNED, Codes, Nest, find_levels, release
from whystop_probe.core.pulse import ALL_KINDS, STEP

_READ_EVERY_S = 0.1
_READ_ALWAYS = 5  # The first steps are read each.
_UNREAD_MAX = 1000
_LOOK_SHARE = 0.15  # Of the tokens that steps earn.
_FRUITLESS_MAX = 32


class LoopWatch:
    """Told of every event; looks at the frames at few of them. Keeps no frame."""

    def __init__(self, training, look=None):
        self._training = training
        self._codes = Codes()
        self._nest = None
        self._exits = None
        self._told_plan = False
        self._thread = get_ident()
        self._last_read = 0.0  # By the pulse's time.
        self._look_at = 0  # The step at which the loop is looked at again.
        self._steps_then = 0
        self._fruitless = 0
        self._look_at_names = look  # (frame): a framework looks at the variables of its loop.
        self._monitored = sys.version_info >= (3, 12)
        training.pulse.kinds = ALL_KINDS
        if self._monitored:
            from whystop_probe.loop.monitor import Monitor

            self._tracker = Monitor()
        else:
            from whystop_probe.loop.window import Windows

            self._tracker = Windows(training)

    @quiet
    def on_event(self, kind):
        if get_ident() != self._thread:
            if self._nest is not None or kind != "step":
                return
            self._thread = get_ident()  # The first steps are made there.
        step = self._training.step
        if kind == "step":
            if step >= self._look_at or (self._nest is not None and not self._exits.stepped()):
                self._timed_look(kind, sys._getframe(2))
        elif self._nest is None:
            self._timed_look(kind, sys._getframe(2))
        if kind == "data-end" and self._exits is not None:
            self._exits.pass_ended(sys._getframe(2))
        self._tracker.event(kind, sys._getframe(2))
        if kind == "step":
            until_look = max(0, self._look_at - step - 1)
            self._training.pulse.loop_skip = until_look if self._nest is None else min(until_look, self._tracker.steps_to_pass())

    def _timed_look(self, kind, frame):
        governor = self._training.governor
        start, spent_then = thread_time(), governor.measured_s
        self._look(kind, frame)
        governor.spend("look", 1, max(0.0, thread_time() - start - (governor.measured_s - spent_then)))

    def _look(self, kind, frame):
        self._plan_next_look()
        found = find_levels(self._codes, frame)
        if not found:
            self._give_up_slowly()
            return
        frames = [item for item, _ in found]
        self._follow(kind, frames, [level for _, level in found])
        if kind == "step":
            far = self._nest.tell_progress(frames)
            if self._nest.began_again and self._read_plan_anew(frames):
                far = self._nest.tell_progress(frames)
            self._exits.last_epoch_from = self._training.step + far
            for item in set(frames) if self._look_at_names is not None else ():
                self._look_at_names(item)
        for item in frames:
            release(item)

    def _read_plan_anew(self, frames):
        """Returns whether the plan is another one by now."""
        before = self._nest.planned()
        self._nest.read_plan(frames)
        if before == self._nest.planned():
            return False
        self._nest.tell_plan()
        return True

    def _plan_next_look(self):
        """Some ten looks a second: as many steps are passed over as fit between two."""
        now, steps = self._training.pulse.elapsed_s, self._training.step
        pace = (steps - self._steps_then) / max(now - self._last_read, 1e-6)
        self._last_read, self._steps_then = now, steps
        if steps > _READ_ALWAYS:
            passed = max(int(pace * _READ_EVERY_S), self._training.governor.steps_between("look", _LOOK_SHARE, UNEARNED))
            self._look_at = steps + 1 + min(passed, _UNREAD_MAX)

    def _give_up_slowly(self):
        """No loop of the user's own is around: a framework's, or code without source. Asked again now and then."""
        self._fruitless += 1
        if self._fruitless > _FRUITLESS_MAX and self._nest is None:
            self._training.pulse.kinds = STEP
            self._look_at = self._training.step + _UNREAD_MAX

    def _follow(self, kind, frames, levels):
        """Takes these loops as the training's. What was seen before the first step is a guess, and not told."""
        new = self._nest is None or not self._nest.same(levels)
        if new:
            self._fruitless = 0
            self._nest = Nest(self._training, levels)
            self._exits = Exits(self._training, self._nest)
            self._told_plan = False
        left = self._exits.reenter()
        if not new and not left and (self._told_plan or kind != "step"):
            return
        before = self._nest.planned()
        self._nest.read_plan(frames)
        if kind == "step" and (not self._told_plan or left or before != self._nest.planned()):
            self._nest.tell_plan()
            self._told_plan = True
            if self._monitored:
                self._training.pulse.kinds = STEP
        if new:
            self._tracker.attach(self._exits)

    @quiet
    def at_exit(self):
        """The process ends. Loops at module level can still be read: their variables are the module's."""
        if self._nest is None:
            return
        levels, main = self._nest.levels, sys.modules.get("__main__")
        if self._exits.running() and get_ident() != self._thread and self._thread in sys._current_frames():
            self._exits.abandoned()
            return
        names = main.__dict__ if main is not None and levels[0].code.co_name == "<module>" else None
        self._exits.at_exit(names)
        if not self._told_plan:
            self._nest.tell_plan()  # No step was ever made: the loops around the first event are all there is.
        if names is not None and all(level.code is levels[0].code for level in levels):
            stand_in = _ModuleFrame(names, levels[0].code)
            self._nest.tell_progress([stand_in] * len(levels))
            if self._look_at_names is not None:
                self._look_at_names(stand_in)
        else:
            self._nest.tell_progress_by_pace()


class _ModuleFrame:
    """Looks like the frame of a module that has ended."""

    def __init__(self, names, code):
        self.f_locals = self.f_globals = names
        self.f_code = code
