"""Watches the lines of a loop's code by tracing in short windows (Python 3.11 and earlier).

Tracing slows all Python code of the thread down, so a window opens only behind an event of the training (a step, a batch, a
loss) after which a loop can be left, and closes at the next event. What the windows cost is paid from the governor's tokens.
"""

import sys

from whystop.guard import quiet
from whystop.loop_nest import release

_LINES_MAX = 600
_CALLS_MAX = 20000
_LINE_S, _CALL_S, _OPEN_S = 0.8e-6, 0.4e-6, 3e-6  # What tracing adds, measured on CPython 3.11; see bench/overhead.py.


class Windows:
    def __init__(self, training):
        self._training = training
        self._exits = None
        self._frames = []  # Only while a window is open.
        self._lines = self._calls = 0
        self._event_lines = {}  # loop -> {kind of event: line}
        self._whole_turns = 1  # Turns still to be traced whole, to meet exceptions that are caught.
        self._stepped = True
        self._tracing_whole = False
        self._hidden = False

    def attach(self, exits):
        self._exits = exits
        self._whole_turns = 1

    def event(self, kind, frame):
        """Something happened in the training, at this point of the program."""
        if self._exits is None or not self._may_trace():
            return
        frames = self._loop_frames(frame)
        whole = self._whole_turn(kind, frames)
        if self._frames and not whole:
            self.close()
        if not frames or self._frames:
            return
        if whole or self._wanted(kind, frames):
            self._open(frames)

    def _may_trace(self):
        """Somebody else's tracer (a debugger, coverage) goes first."""
        tracer = sys.gettrace()
        return tracer is None or tracer == self._global

    def _loop_frames(self, frame):
        """The frames that run loops of the nest, innermost first."""
        frames, codes = [], self._exits.codes()
        while frame is not None and len(frames) < len(codes):
            if frame.f_code in codes:
                frames.append(frame)
            frame = frame.f_back
        return frames

    def _whole_turn(self, kind, frames):
        """Whether this turn is to be traced whole: the loop catches exceptions, and the last turn made no step."""
        if kind == "step":
            self._stepped = True
            return False
        if kind in ("data", "zero_grad"):
            first = kind == "data" or "data" not in self._event_lines.get(self._inner_loop(), {})
            if first and self._catches():
                turn = self._whole_turns > 0 or not self._stepped
                self._whole_turns -= 1
                self._stepped = False
                return turn and self._affords()
        return bool(self._frames) and self._tracing_whole and kind in ("loss", "backward", "zero_grad")

    def _inner_loop(self):
        return self._exits.nest.levels[-1].loop

    def _catches(self):
        return bool(self._inner_loop().handlers)

    def _wanted(self, kind, frames):
        """Whether a loop of the nest can be left between here and the next event."""
        inner = self._exits.nest.levels[-1]
        frame = frames[0]
        line = frame.f_lineno
        in_inner = frame.f_code is inner.code and inner.loop.body_first <= line <= inner.loop.body_last
        if not in_inner:
            return True  # Between two passes of the inner loop: seldom, and where early stopping lives.
        lines = self._event_lines.setdefault(inner.loop, {})
        lines[kind] = line
        later = [other for other in lines.values() if other > line]
        until = min(later) if later else inner.loop.body_last + 1
        if any(line <= leaving.line < until for leaving in inner.loop.exits):
            return self._affords()
        if later:
            return False
        before_first = any(leaving.line < min(lines.values()) for leaving in inner.loop.exits)
        loader = inner.plan is not None and inner.plan.loader  # Its end is an event of its own.
        return (before_first or not loader) and self._affords()

    def _affords(self):
        return self._training.governor.affords("window")

    def _open(self, frames):
        self._frames = frames
        self._lines = self._calls = 0
        self._tracing_whole = self._catches() and not self._stepped
        if self._training.compiled and not self._hidden:
            self._hide_from_compiler()
        for frame in frames:
            frame.f_trace = self._local
        sys.settrace(self._global)

    def _hide_from_compiler(self):
        """torch.compile looks at every function that runs inside a compiled one, and would count ours."""
        self._hidden = True
        module = sys.modules.get("torch._dynamo.eval_frame")
        if module is not None:
            module.skip_code(Windows._global.__code__)

    def close(self, inside_trace=False):
        sys.settrace(None)
        for frame in self._frames:
            frame.f_trace = None
            if not inside_trace:
                release(frame)
        self._frames = []
        self._tracing_whole = False
        cost = _OPEN_S + self._lines * _LINE_S + self._calls * _CALL_S
        self._training.governor.spend("window", 1, cost)

    def _global(self, frame, event, arg):
        self._calls += 1
        if self._calls > _CALLS_MAX:
            self.close(inside_trace=True)
        return None

    def _local(self, frame, event, arg):
        self._lines += 1
        self._see(frame, event, arg)
        if self._frames and (self._lines > _LINES_MAX or not self._exits.running()):
            self.close(inside_trace=True)
        return self._local

    @quiet
    def _see(self, frame, event, arg):
        code = frame.f_code
        if event == "line":
            self._exits.on_line(frame, code, frame.f_lineno)
        elif event == "return":
            self._exits.on_return(frame, code)
            self._frames = [other for other in self._frames if other is not frame]
        elif event == "exception":
            if not isinstance(arg[1], (StopIteration, GeneratorExit)) and arg[0] is not StopIteration:
                self._exits.on_error(arg[1] if isinstance(arg[1], BaseException) else arg[0](arg[1]))
