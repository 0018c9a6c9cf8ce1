"""Tells how the loops of a nest were left, from the lines that their code runs. Fed by a trace function or a monitor."""

from whystop_probe.core.crash import ended_by_exception
from whystop_probe.loop.meaning import meaning_of
from whystop_probe.loop.nest import scope_of
from whystop_probe.loop.unseen import exit_of_a_helper, ran_out, unseen_exit
from whystop_probe.loop.values import Scope, values_text

_TOLD_MAX = 40  # Of one statement: a `break` of an inner loop may be taken every epoch.
_CAUGHT_MAX = 20
_FRAMES_TO_LOOP_MAX = 8  # Of a bar, a prefetcher, an iterator of the framework.
_NEAR_END = 0.9  # Of the planned turns: what steps say of epochs is an estimate.


class Exits:
    """One nest while it runs. A candidate is a leaving statement whose line was reached; what comes next decides."""

    def __init__(self, training, nest):
        self._training = training
        self.nest = nest
        self.by_code = {}  # id of a code object -> its levels
        for level in nest.levels:
            self.by_code.setdefault(id(level.code), []).append(level)
        self.last_epoch_from = 0  # Before this step the loop around the innermost one is not in its last turn.
        self._inside = set(nest.levels)
        self._exit_lines = {leaving.line for level in nest.levels for leaving in level.loop.exits}
        self.handler_lines = {line for level in nest.levels for line, _, _ in level.loop.handlers}
        self._left_since = set()
        self._pass_ended_at = 0
        self._candidate = None
        self._error = None  # An _Error on its way; never the exception itself
        self._handled = None  # The same of the last one that an `except` of the nest took.
        self._told = {}
        self._caught = 0

    def may_leave_outside(self, inner):
        """Whether it matters that the innermost loop ends: a loop around it can be left, or it is the only one."""
        alone = inner is self.nest.levels[0]
        return alone or self._training.step >= self.last_epoch_from or any(level.loop.exits for level in self.nest.levels[:-1])

    def codes(self):
        return [levels[0].code for levels in self.by_code.values()]

    def running(self):
        return bool(self._inside)

    def stepped(self):
        """A step was made, so all loops run. Returns whether none but the batch loop had been left before."""
        if len(self._inside) != len(self.nest.levels):
            self._inside.update(self.nest.levels)
        return not self._left_since

    def reenter(self):
        """As stepped(), but returns the loops that had been left, without the batch loop, and forgets them."""
        left, self._left_since = self._left_since, set()
        self._inside.update(self.nest.levels)
        return left

    def on_line(self, frame, code, line):
        levels = self.by_code.get(id(code))
        if levels is None:
            return
        candidate = self._candidate
        if candidate is not None and candidate.level.code is code:
            self._candidate = None
            if candidate.leaving.how == "break" and not candidate.level.loop.holds(line):
                self._left(candidate.read(frame))
        for level in levels:
            if level not in self._inside:
                if level.loop.body_first <= line <= level.loop.body_last:
                    self._inside.add(level)
            elif not level.loop.holds(line):
                if self._left_by_error(level, code):
                    self._tell(level, "exception", error=self._error, scope=scope_of(frame))
                    self._mark_left(level)
                else:
                    self._ended(level, frame)
        self._note_caught(levels, code, line)
        if line in self._exit_lines:
            for level in reversed(levels):
                for leaving in level.loop.exits:
                    if leaving.line == line and level in self._inside:
                        self._candidate = _Candidate(level, leaving, frame)
                        return

    def _left_by_error(self, level, code):
        """An exception came out of this loop, and no step was made since: an `except` around the loop took it."""
        error = self._error
        return error is not None and error.step == self._training.step and level.code is code and level.loop.holds(error.line)

    def on_return(self, frame, code):
        """The function was left, by `return`, by an exception, or at its end."""
        levels = [level for level in self.by_code.get(id(code), ()) if level in self._inside]
        candidate, self._candidate = self._candidate, None
        error, self._error = self._error, None
        for level in reversed(levels):
            if candidate is not None and candidate.leaves(level):
                self._left(candidate.of(level, frame))
            elif error is not None:
                self._tell(level, "exception", error=error, scope=scope_of(frame))
            else:
                self._ended(level, frame)
            self._outside(level)

    def on_error(self, error, code, line):
        """An exception passes this line of a loop's code; it may have passed others before."""
        told = _Error(type(error).__name__, str(error)[:400], line)
        told.step = self._training.step
        before = self._error
        inner = self.nest.levels[-1]
        told.in_batches = inner.code is code and inner.loop.holds(line)
        if before is not None and (before.type, before.message) == (told.type, told.message):
            told.in_batches = told.in_batches or before.in_batches
        self._error = told

    def pass_ended(self, frame):
        """A DataLoader has given all its batches: that of the innermost loop, if that is where they went, perhaps through a bar."""
        inner = self.nest.levels[-1]
        for _ in range(_FRAMES_TO_LOOP_MAX):
            if frame is None:
                return
            if frame.f_code is inner.code:
                if inner.loop.holds(frame.f_lineno):
                    self._pass_ended_at = self._training.step
                return
            frame = frame.f_back

    def abandoned(self):
        """The process ends while the thread that trains still runs."""
        turn = self._turn_by_steps(self.nest.levels[0])
        self.nest.tell_exit(self.nest.levels[0], "abandoned", None, None, None, turn if turn is None else int(turn))

    def at_exit(self, names):
        """The process ends: a leaving statement that was reached and not followed by anything was the last one. `names` are
        the variables of a module whose code runs the outermost loop, else None."""
        candidate, self._candidate = self._candidate, None
        if candidate is not None and candidate.leaving.how in ("exit", "raise"):
            self._left(candidate)
        elif self.nest.levels[0] in self._inside and not ended_by_exception():
            self._find_unseen(self.nest.levels[0], Scope(names, names) if names is not None else None)

    def _find_unseen(self, level, scope):
        plan, turn = level.plan, self._turn_by_steps(level)
        leaving = unseen_exit(level, scope, self._cut_short(level))
        if leaving is None:
            if ran_out(level, scope):
                values = values_text([level.loop.node.test], scope)
                meaning = meaning_of(level.loop, [level.loop.node.test], scope, True)
                self.nest.tell_exit(level, "end", None, None, values, plan.turn(scope) if plan is not None else None, meaning, seen=False)
            elif level is self.nest.epoch_level and not level.loop.exits and self.nest.spent_by_first_turn():
                self.nest.tell_exit(level, "end", None, None, None, plan.planned, seen=False)
            elif self._cut_short(level) and all(way.how == "raise" for way in level.loop.exits):
                helper = exit_of_a_helper(self.nest.levels)
                if helper is not None:
                    self.nest.tell_exit(level, "exit", helper[1], None, None, None if turn is None else int(turn), seen=False, file=helper[0])
            return
        expressions = leaving.expressions()
        values, meaning = None, meaning_of(level.loop, expressions, Scope({}, {}), False)  # By the syntax alone.
        if scope is not None:
            values, meaning = values_text(expressions, scope), meaning_of(level.loop, expressions, scope, False)
            turn = plan.turn(scope) if plan is not None else None
        self.nest.tell_exit(level, leaving.how, leaving, None, values, None if turn is None else int(turn), meaning, seen=False)

    def _left(self, candidate):
        leaving = candidate.leaving
        in_handler = any(text.startswith("except ") for _, text in leaving.conditions)
        error = self._handled if in_handler else None
        self._tell(candidate.level, leaving.how, leaving, error, candidate.values, candidate.turn, meaning=candidate.meaning)
        self._mark_left(candidate.level)

    def _mark_left(self, level):
        self._outside(level)
        if not self.nest.is_batch_loop(level):
            self._left_since.add(level)

    def _outside(self, level):
        self._inside.discard(level)
        self._training.pulse.loop_skip = 0  # The next step is to be heard: it enters the loop again.

    def _ended(self, level, frame):
        """The loop ran out of turns, or its condition turned false; or an exception took it while nobody looked."""
        self._mark_left(level)
        if not self.nest.is_batch_loop(level):
            scope = scope_of(frame)
            self._tell(level, "exception" if self._ended_too_soon(level, scope) else "end", scope=scope)

    def _ended_too_soon(self, level, scope):
        """A `for` without a way out whose variable stands before its last turn, and steps and data say so too: by itself the
        variable proves nothing, another loop may have taken it."""
        plan = level.plan
        if level.loop.kind != "for" or level.loop.exits or plan is None or not plan.bounded or plan.planned is None:
            return False
        turn = plan.turn(scope)
        return turn is not None and turn < plan.planned and self._cut_short(level)

    def _cut_short(self, level):
        inner, plan = self.nest.levels[-1], level.plan
        turn = self._turn_by_steps(level)
        far = turn is not None and plan.planned is not None and turn + 1 < _NEAR_END * plan.planned
        return far or bool(inner.plan is not None and inner.plan.loader and self._training.step > self._pass_ended_at)

    def _turn_by_steps(self, level):
        turn = self.nest.turn_by_steps() if level is self.nest.epoch_level else None
        if turn is None and level is self.nest.levels[-1] and self.nest.steps_each_turn():
            turn = self._training.step - self._training.began_at
        return turn

    def _tell(self, level, how, leaving=None, error=None, values=None, turn=None, scope=None, meaning=(None, None)):
        key = (leaving.line if leaving is not None else level.loop.line, how)
        self._told[key] = self._told.get(key, 0) + 1
        if self._told[key] > _TOLD_MAX:
            return
        if scope is not None:
            turn = level.plan.turn(scope) if level.plan is not None else None
            if level.loop.kind == "while" and how == "end":
                meaning = meaning_of(level.loop, [level.loop.node.test], scope, True)
            values = values_text([level.loop.node.test], scope) if level.loop.kind == "while" else ""
        if how == "end" and level.plan is not None and level.plan.bounded:
            turn = level.plan.planned  # Another loop may have taken its variable by now.
        self.nest.tell_exit(level, how, leaving, error, values, turn, meaning)

    def _note_caught(self, levels, code, line):
        """The first line of an `except` body: an exception ends here, and the log may not show it."""
        if self._error is None:
            return
        for level in reversed(levels):
            for body_line, _, caught in level.loop.handlers:
                if body_line == line:
                    self._tell_caught(level, code, line, caught)
                    return

    def _tell_caught(self, level, code, line, caught):
        self._handled, self._error = self._error, None
        self._caught += 1
        if self._caught <= _CAUGHT_MAX or self._caught & (self._caught - 1) == 0:  # Then 32, 64, 128, ...
            self._training.channel.observe(
                "exception-caught",
                self._training.step,
                type=self._handled.type,
                message=self._handled.message,
                file=code.co_filename,
                line=line,
                raised_line=self._handled.line,
                handler=caught,
                level=self.nest.levels.index(level),
                cut=self._handled.in_batches and not self._in_inner(code, line),
                times=self._caught,
            )


    def _in_inner(self, code, line):
        inner = self.nest.levels[-1]
        return inner.code is code and inner.loop.holds(line)


class _Error:
    """What is kept of an exception."""

    def __init__(self, kind, message, line):
        self.type = kind
        self.message = message
        self.line = line  # Of the loop's code.
        self.in_batches = False  # It came out of the innermost loop.
        self.step = None  # Made until then.


class _Candidate:
    """A leaving statement whose line was reached. Nothing runs between it and the next event of its frame, so its values
    are read then, and only if it was taken; but an exit of the process may have no next event."""

    def __init__(self, level, leaving, frame):
        self.level = level
        self.leaving = leaving
        self.values = self.turn = None
        self.meaning = (None, None)
        if leaving.how in ("exit", "raise"):
            self.read(frame)

    def read(self, frame):
        if self.values is None:
            scope, expressions = scope_of(frame), self.leaving.expressions()
            self.values = values_text(expressions, scope)
            self.meaning = meaning_of(self.level.loop, expressions, scope, False)
            self.turn = self.level.plan.turn(scope) if self.level.plan is not None else None
        return self

    def leaves(self, level):
        """A `break` leaves its own loop; the others leave every loop of their function."""
        return self.level is level or (self.level.code is level.code and self.leaving.how != "break")

    def of(self, level, frame):
        return (self if level is self.level else _Candidate(level, self.leaving, frame)).read(frame)
