"""Watches the lines of a loop's code by tracing in short windows (Python 3.11 and earlier).

Tracing slows all Python code of the thread down, so a window opens only behind an event of the training (a step, a batch, a
loss) after which a loop can be left, and closes at the next event. What the windows cost is paid from the governor's tokens.
"""

import inspect
import sys
from opcode import opmap
from time import thread_time

from whystop_probe.core.guard import quiet
from whystop_probe.loop.countdown import Countdown
from whystop_probe.loop.nest import UNEARNED, release, scope_of
from whystop_probe.core.pulse import ALL_KINDS, DATA, DATA_END, KINDS, STEP, ZERO_GRAD

_LINES_MAX = 600
_CALLS_MAX = 20000
_LINE_S, _CALL_S = 2.4e-6, 1.0e-6  # What tracing adds, about; measured on CPython 3.11 and a busy machine.
_USELESS_MAX = 16
_WINDOW_SHARE = 0.3  # Of the tokens that steps earn: a loop that may end at any step must not take them all.
_EVENT_SHARE = 0.1  # For asking whether a window is wanted.
_YIELD = opmap["YIELD_VALUE"]
_FORCED_TURNS = 20
_PASS_MAX = 1000
_ORDER = {"data-end": 0, "data": 1, "zero_grad": 2, "loss": 3, "backward": 4, "step": 5}  # Of events on one line.


def _yields(frame):
    """A generator that hands out a value "returns" too, as far as a trace function can tell."""
    code = frame.f_code
    return bool(code.co_flags & inspect.CO_GENERATOR) and code.co_code[frame.f_lasti] == _YIELD


class Windows:
    """Opens and closes the windows. They name the events that can matter; the others cost nothing."""

    def __init__(self, training):
        self._training = training
        self._exits = None
        self._frames = []  # Only while a window is open.
        self._lines = self._calls = 0
        self._event_lines = {}  # kind of event -> its line in the innermost loop
        self._useless = {}  # kind of event -> how often in a row no loop could be left behind it
        self._forced_turns = _FORCED_TURNS
        self._turn_began_at = -1  # Steps made when this turn began.
        self._tracing_whole = False
        self._hidden = False
        self._kept_kinds = ALL_KINDS
        self._opening_s = 0.0  # What the event took that opened the window.
        self._pass_until = 0  # Before this step nothing can happen to the loops behind a step.
        self._turn_then = (0, 0)  # (turn of the innermost loop, step) when it was read last
        self._next_at = 0  # The step from which tokens may pay for the next window.
        self._deaf_until = 0  # The step until which not all kinds of events are heard that matter.
        self._countdowns = {}  # line of an exit -> its Countdown

    def attach(self, exits):
        self._pass_until = 0
        self._training.pulse.loop_skip = 0
        if self._frames:
            self.close()
        self._exits = exits
        self._event_lines = {}
        self._useless = {}
        self._countdowns = {}
        self._choose_kinds()

    def event(self, kind, frame):
        """Something happened in the training, at this point of the program."""
        if self._exits is None or (kind == "step" and self.steps_to_pass() > 0) or not self._may_trace():
            return
        start, was_open = thread_time(), bool(self._frames)
        if kind == "step" and 0 < self._deaf_until <= self._training.step:
            self._deaf_until = 0
            self._training.pulse.kinds |= self._kept_kinds
        self._open_or_close(kind, frame)
        seconds = thread_time() - start
        if self._frames and not was_open:
            self._opening_s = seconds
        elif not was_open:
            self._training.governor.spend("event", 1, seconds)

    def _open_or_close(self, kind, frame):
        frames = self._loop_frames(frame)
        whole = self._whole_turn(kind)
        if self._frames and not whole:
            self.close()
        if not frames or self._frames:
            return
        wanted = whole or self._wanted(kind, frames)
        if wanted:
            self._open(frames)
        self._useless[kind] = self._useless.get(kind, 0) + 1 if wanted is False else 0
        if self._useless[kind] == _USELESS_MAX:
            self._choose_kinds()

    def _choose_kinds(self):
        """While a window is open every event closes it; else only those count behind which a loop may be left."""
        useless = sum(KINDS[kind] for kind, times in self._useless.items() if times >= _USELESS_MAX)
        self._kept_kinds = ALL_KINDS & ~useless | self._always_heard()
        self._training.pulse.kinds = ALL_KINDS if self._frames else self._kept_kinds

    def _always_heard(self):
        return STEP | DATA_END | (DATA | ZERO_GRAD if self._catches() else 0)

    def _may_trace(self):
        """Somebody else's tracer (a debugger, coverage) goes first."""
        tracer = sys.gettrace()
        return tracer is None or tracer == self._global

    def _loop_frames(self, frame):
        """The frames that run loops of the nest, innermost first."""
        frames, by_code = [], self._exits.by_code
        missing = len(by_code)
        while frame is not None and missing:
            if id(frame.f_code) in by_code:
                frames.append(frame)
                missing -= 1
            frame = frame.f_back
        return frames

    def _whole_turn(self, kind):
        """Whether this turn is to be traced whole: the loop catches exceptions, which can come from anywhere. As far as the
        tokens last, and a few times where the turn before made no step: there one was caught."""
        if kind == "step":
            return False
        begins = kind == "data" or (kind == "zero_grad" and "data" not in self._event_lines)
        if begins and self._catches():
            stepped = self._turn_began_at != self._training.pulse.steps
            self._turn_began_at = self._training.pulse.steps
            if not stepped and self._forced_turns > 0:
                self._forced_turns -= 1
                return True
            return self._affords(kind)
        return bool(self._frames) and self._tracing_whole and kind in ("loss", "backward", "zero_grad")

    def _catches(self):
        return bool(self._exits.nest.levels[-1].loop.handlers)

    def _wanted(self, kind, frames):
        """Whether a loop of the nest can be left between here and the next event: True, False, or None (not this time)."""
        inner = self._exits.nest.levels[-1]
        frame = frames[0]
        line = frame.f_lineno
        # A batch arrives while the loop stands at its header; the loop's end is another event at the same place.
        first_line = inner.loop.line if kind == "data" else inner.loop.body_first
        if frame.f_code is not inner.code or not first_line <= line <= inner.loop.body_last:
            return True  # Between two passes of the inner loop: seldom, and where early stopping lives.
        lines = self._event_lines
        lines[kind] = line
        later = [lines[other] for other in lines if lines[other] > line or (lines[other] == line and _ORDER[other] > _ORDER[kind])]
        until = min(later) if later else inner.loop.body_last + 1
        ahead = [leaving for leaving in inner.loop.exits if line <= leaving.line < until]
        if not ahead and later:
            return False
        ahead = ahead or [leaving for leaving in inner.loop.exits if leaving.line < min(lines.values())]
        if ahead:
            return self._affords(kind) or self._comes_true(ahead, frame) or None
        return self._may_run_out(kind, inner, frame)

    def _comes_true(self, exits, frame):
        """Whether a counter is about to reach the bound that one of these exits stands under: then once, whatever it costs."""
        near = False
        for leaving in exits:
            countdown = self._countdowns.setdefault(leaving.line, Countdown(leaving))
            left = countdown.steps_left(scope_of(frame), self._training.step)
            if left is not None:
                near = near or left <= 1
                self._pass_until = min(self._pass_until, self._training.step + int((left - 1) / 2))
        release(frame)
        return near

    def _may_run_out(self, kind, inner, frame):
        """Whether the innermost loop may be in its last turn. A DataLoader's end is an event of its own."""
        if inner.plan is None:
            return False
        if inner.plan.loader:
            return False
        if not self._exits.may_leave_outside(inner):
            self._may_pass(self._exits.last_epoch_from - self._training.step)
            return None
        if inner.plan.planned is not None and inner.plan.variable is not None:
            turn = inner.plan.turn(scope_of(frame))
            release(frame)
            if turn is not None and turn < inner.plan.planned:
                self._plan_passing(turn, inner.plan.planned)
                return None
            if turn is not None:
                return True  # The last turn: once a pass, whatever it costs.
        return self._affords(kind) or None

    def _plan_passing(self, turn, planned):
        """How many steps may pass before the loop can be near its end, at twice the pace seen so far."""
        steps = self._training.step
        pace = max(1.0, (turn - self._turn_then[0]) / max(1, steps - self._turn_then[1]))
        self._turn_then = (turn, steps)
        self._may_pass(int((planned - turn) / (2 * pace)))

    def _may_pass(self, steps):
        self._pass_until = self._training.step + min(steps, _PASS_MAX)

    def steps_to_pass(self):
        """How many steps need not be heard: nothing can happen to the loops behind them."""
        if self._frames or self._exits is None:
            return 0
        useless = self._useless.get("step", 0) >= _USELESS_MAX
        passed = _PASS_MAX if useless else max(0, self._pass_until - self._training.step)
        return min(passed, max(0, self._deaf_until - self._training.step)) if self._deaf_until else passed

    def _affords(self, kind):
        """Whether a window may be opened. If not, the next events of this kind need not ask."""
        governor = self._training.governor
        if governor.has_reserve("window") or (self._training.step >= self._next_at and governor.affords("window")):
            return True
        passed = governor.steps_between("event", _EVENT_SHARE, UNEARNED)
        if kind == "step":
            self._may_pass(passed)
        elif passed > 0:
            self._deaf_until = self._training.step + min(passed, _PASS_MAX)
            self._training.pulse.kinds &= ~KINDS[kind] | self._always_heard()
        return False

    def _open(self, frames):
        self._frames = frames
        self._lines = self._calls = 0
        self._tracing_whole = self._catches() and self._turn_began_at == self._training.pulse.steps
        if self._training.compiled and not self._hidden:
            self._hide_from_compiler()
        for frame in frames:
            frame.f_trace = self._local
        self._training.pulse.kinds = ALL_KINDS
        self._training.pulse.loop_skip = 0
        sys.settrace(self._global)

    def _hide_from_compiler(self):
        """A compiler looks at every function that runs inside a compiled one, and would count ours."""
        self._hidden = True
        self._training.hide_code(Windows._global.__code__)

    def close(self, inside_trace=False):
        sys.settrace(None)
        for frame in self._frames:
            frame.f_trace = None
            if not inside_trace:
                release(frame)
        self._frames = []
        self._tracing_whole = False
        self._training.pulse.kinds = self._kept_kinds
        cost = 2 * self._opening_s + self._lines * _LINE_S + self._calls * _CALL_S  # Closing takes as long as opening.
        governor = self._training.governor
        governor.spend("window", 1, cost)
        self._next_at = self._training.step + governor.steps_between("window", _WINDOW_SHARE, UNEARNED)

    def _global(self, frame, event, arg):
        self._calls += 1
        if self._calls > _CALLS_MAX:
            self.close(inside_trace=True)
        return None

    def _local(self, frame, event, arg):
        self._lines += 1
        self._see(frame, event, arg)
        if self._frames and (self._lines > _LINES_MAX or not self._exits.running() or self._fetches(frame, event)):
            self.close(inside_trace=True)
        return self._local

    def _fetches(self, frame, event):
        """Whether the loop goes on to its next batch: all that a DataLoader calls for it would be traced, and its end is an
        event of its own."""
        inner = self._exits.nest.levels[-1]
        at_header = event == "line" and frame.f_lineno == inner.loop.line and frame.f_code is inner.code
        return at_header and inner.plan is not None and inner.plan.loader and not self._tracing_whole

    @quiet
    def _see(self, frame, event, arg):
        code = frame.f_code
        if event == "line":
            self._exits.on_line(frame, code, frame.f_lineno)
        elif event == "return" and not _yields(frame):
            self._exits.on_return(frame, code)
            self._frames = [other for other in self._frames if other is not frame]
        elif event == "exception":
            if not isinstance(arg[1], (StopIteration, GeneratorExit)) and arg[0] is not StopIteration:
                self._exits.on_error(arg[1] if isinstance(arg[1], BaseException) else arg[0](arg[1]), code, frame.f_lineno)
