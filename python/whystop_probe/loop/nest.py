"""The loops around the optimizer's step: their plans, where they are, and how they were left."""

import sys
from math import ceil

from whystop_probe.core.crash import users_own
from whystop_probe.loop.meaning import meaning_of_flag
from whystop_probe.loop.plan import plan_of
from whystop_probe.loop.source import loops_of
from whystop_probe.loop.values import Scope

_FRAMES_MAX = 60
_LOOPS_MAX = 8
_SNAPSHOT = sys.version_info < (3, 13)  # f_locals of a function is a copy that stays alive with the frame.
_OPTIMIZED = 1
_STEPS_TO_JUDGE = 20
UNEARNED = 8  # Steps between two looks where none can be paid for: how a loop was left cannot be seen later.


class Codes:
    """Loops by code object, read from source once each. Keyed by identity: hashing a code object reads all of it."""

    def __init__(self):
        self._loops = {}  # id -> (code, its loops); the code is held, so that no other one gets its id

    def loops(self, code):
        found = self._loops.get(id(code))
        if found is None:
            own = users_own(code.co_filename) and not code.co_filename.startswith("<string")
            found = self._loops[id(code)] = (code, loops_of(code) if own else [])
        return found[1]


class Level:
    """One loop of the nest, in the code that runs it. Holds no frame."""

    def __init__(self, code, loop):
        self.code = code
        self.loop = loop
        self.plan = None


def scope_of(frame):
    return Scope(frame.f_locals, frame.f_globals)


def release(frame):
    """Drops the copy that reading f_locals left in the frame: it would keep the user's tensors alive.
    Never from inside a trace function: there the interpreter writes the copy back."""
    if _SNAPSHOT and frame.f_code.co_flags & _OPTIMIZED:
        frame.f_locals.clear()


def find_levels(codes, frame):
    """The loops around this point, outermost first, with their frames: [(frame, Level)]."""
    found = []
    for _ in range(_FRAMES_MAX):
        if frame is None or len(found) >= _LOOPS_MAX:
            break
        loops = codes.loops(frame.f_code)
        if loops:
            line = frame.f_lineno
            inside = [loop for loop in loops if loop.holds(line) and line >= loop.body_first]
            found += [(frame, Level(frame.f_code, loop)) for loop in reversed(inside)]
        frame = frame.f_back
    found.reverse()
    return found


class Nest:
    """The loops that were around the first step."""

    def __init__(self, training, levels):
        self._training = training
        self.levels = levels
        self._first_turn = self._last_turn = None  # (epoch, step) at the first and the last look.
        self.began_again = False  # At the last look: a function that trains was called once more, perhaps with another plan.
        self._step_look = None  # (turn, steps made) of the loop over steps, at the last look.
        self._outer_turns = {}  # Of the loops around the one over epochs: (turn, number of the training) at the first look.
        self.epoch_level, self.step_level = _roles(levels)

    def same(self, levels):
        return [(id(item.code), item.loop.line) for item in self.levels] == [(id(item.code), item.loop.line) for item in levels]

    def read_plan(self, frames):
        for frame, level in zip(frames, self.levels):
            level.plan = plan_of(level.loop, scope_of(frame))
        self.epoch_level, self.step_level = _roles(self.levels)

    def tell_plan(self):
        for number, level in enumerate(self.levels):
            self._training.channel.observe(
                "loop-plan",
                self._training.step,
                file=level.code.co_filename,
                line=level.loop.line,
                function=level.code.co_name,
                kind=level.loop.kind,
                level=number,
                levels=len(self.levels),
                role=self._role(level),
                over=level.plan.over,
                variable=level.plan.variable,
                planned=level.plan.planned,
                exits=len(level.loop.exits),
                exit_lines=",".join(str(leaving.line) for leaving in level.loop.exits[:20]),
                only_exit=level.loop.exits[0].text() if len(level.loop.exits) == 1 else None,
            )

    def tell_progress(self, frames):
        """Reads where the loops are; `frames` are those of the levels. Returns a number of steps in which the last epoch
        cannot begin, however fast the loop goes; 0 where nothing is known."""
        epoch = epochs = step = steps = None
        self._look_outside(frames)
        for frame, level in zip(frames, self.levels):
            if level.plan is None or level not in (self.epoch_level, self.step_level):
                continue
            turn = level.plan.turn(scope_of(frame))
            if level is self.epoch_level:
                epoch, epochs = turn, level.plan.planned
            else:
                step, steps = turn, level.plan.planned
                self._step_look = None if turn is None else (turn, self._training.step - self._training.began_at)
        far = (epochs - epoch) * steps // 2 if None not in (epoch, epochs, steps) and self.epoch_level is not None else 0
        self._note_turn(epoch)
        if self.epoch_level is not None:
            # The inner loop counts within its epoch; the run's own count goes on.
            next_to = self.levels.index(self.epoch_level) + 1 == len(self.levels) - 1
            steps = steps * epochs if next_to and steps is not None and epochs is not None else None
            step = self._training.step - self._training.began_at
        if epoch is not None or epochs is not None or steps is not None:
            self._training.channel.writer.progress(epoch, epochs, None if step is None else int(step), None if steps is None else int(steps))
        return far

    def steps_each_turn(self):
        """Whether the loop over steps made one step a turn when it was looked at last: then steps count its turns."""
        return self._step_look is not None and self._step_look[0] <= 1.05 * self._step_look[1] + 2

    def _look_outside(self, frames):
        """A loop around the epochs that went on with the same model is the one that counts: its turns are the run's, and what
        looked like epochs are passes over the data of one turn. With a model made anew for each turn it is a sweep, or folds."""
        for frame, level in zip(frames, self.levels):
            if level is self.epoch_level or self.epoch_level is None:
                return
            turn = level.plan.turn(scope_of(frame)) if level.plan is not None else None
            if turn is None or level.plan.planned is None:
                continue
            first = self._outer_turns.setdefault(level, (turn, self._training.number))
            if turn > first[0] and self._training.number == first[1]:
                self.epoch_level = level
                self._first_turn = self._last_turn = None
                self.tell_plan()
                return

    def _note_turn(self, epoch):
        if epoch is None:
            return
        self.began_again = self._last_turn is not None and epoch < self._last_turn[0]
        if self._last_turn is None or self.began_again:
            self._first_turn = (epoch, self._training.step)
        self._last_turn = (epoch, self._training.step)

    def tell_progress_by_pace(self):
        """The process ends, and nobody saw the last epochs: looks are few. The steps since the last look tell how many they were,
        by the pace until then; it lay half an epoch behind its beginning, as far as anybody knows."""
        planned = self.epoch_level.plan.planned if self.epoch_level is not None and self.epoch_level.plan is not None else None
        if self._last_turn is None or planned is None:
            return
        (epoch, look), began_at, now = self._last_turn, self._training.began_at, self._training.step
        if epoch < 2 or look <= began_at:
            return
        done = epoch - 0.5 + (now - look) * (epoch - 0.5) / (look - began_at)
        self._training.channel.writer.progress(min(planned, ceil(done)), planned, int(now - began_at), None)

    def turn_by_steps(self):
        """The epoch that the last step belonged to, by the pace of those before; None where nothing is known."""
        if self._first_turn is None or self._last_turn[0] == self._first_turn[0]:
            return None
        (first, first_step), (last, last_step) = self._first_turn, self._last_turn
        return last + (self._training.step - last_step) * (last - first) / max(1, last_step - first_step)

    def _last_stepped_turn(self):
        """The epoch of the last step, at most: looks are few, but an epoch takes at least as many steps as they show."""
        batches = self.step_level.plan if self.step_level is not None else None
        if self.spent_by_first_turn():
            return self._first_turn[0]
        if batches is None or not batches.spends or self._first_turn is None or self._last_turn[1] - self._first_turn[1] < _STEPS_TO_JUDGE:
            return None
        (first, first_step), (last, last_step) = self._first_turn, self._last_turn
        return last + 1 + int((self._training.step - last_step) * (last - first + 1) / (last_step - first_step))

    def spent_by_first_turn(self):
        """The batches come from an iterator that was made once, and the loop over them has no way out but its end: whatever the loop around
        it does, later turns find nothing."""
        batches = self.step_level
        once = batches is not None and batches.plan is not None and batches.plan.once and not batches.loop.exits
        return once and self._first_turn is not None and self._first_turn[0] == self._last_turn[0]

    def tell_exit(self, level, how, leaving, error, values, turn, meaning=(None, None), seen=True, file=None):
        """The "loop-exit" observation. `leaving` is the statement, where one is known; `error` its exception; `meaning` as from
        meaning_of(). Not `seen`: it is the only one that is left. `file`: where the statement does not stand in the loop's own."""
        plan = level.plan
        flag = _flag(level.loop, leaving)
        if flag and flag[2] and meaning[0] is None:
            meaning = meaning_of_flag(level.loop, flag[2])
        self._training.channel.observe(
            "loop-exit",
            self._training.step,
            file=file or level.code.co_filename,
            line=leaving.line if leaving is not None else level.loop.line,
            loop_line=level.loop.line,
            function=level.code.co_name,
            how=how,
            level=self.levels.index(level),
            levels=len(self.levels),
            role=self._role(level),
            condition=leaving.text() if leaving is not None else plan.over if plan is not None and level.loop.kind == "while" else None,
            values=values,
            meaning=meaning[0],
            decided=meaning[1],
            seen=seen,
            turn=turn,
            planned=plan.planned if plan is not None else None,
            variable=plan.variable if plan is not None else None,
            stepped_in_turn=self._last_stepped_turn() if level is self.epoch_level else None,
            batches_over=self.step_level.plan.over if level is self.epoch_level and self.step_level and self.step_level.plan else None,
            error_type=error.type if error is not None else None,
            error_message=error.message if error is not None else None,
            flag=flag[0] if flag else None,
            flag_line=flag[1] if flag else None,
            flag_condition=flag[2] if flag else None,
        )
        if level is self.epoch_level:
            self._first_turn = self._last_turn = None

    def is_batch_loop(self, level):
        """The loop over batches inside the one over epochs: it ends every epoch, and that is nothing to tell."""
        return level is self.step_level and self.epoch_level is not None

    def planned(self):
        return [level.plan.planned for level in self.levels if level.plan is not None]

    def _role(self, level):
        return "epochs" if level is self.epoch_level else "steps" if level is self.step_level else "outer"


def _flag(loop, leaving):
    """Where the variable that the last condition tests was set to True, if the source shows it."""
    if leaving is None or not leaving.conditions:
        return None
    name = leaving.conditions[-1][1]
    line = loop.flags.get(name)
    return (name, line[0], line[1]) if line else None


def _roles(levels):
    """Which loop counts epochs and which counts steps. A single loop counts epochs if its name or shape says so."""
    if not levels:
        return None, None
    only = levels[-1]
    plan = only.plan
    words = f"{plan.variable} {plan.over}".lower() if plan is not None else ""
    if len(levels) >= 2 and not ("epoch" in words and not plan.loader):
        return levels[-2], levels[-1]
    if plan is not None and plan.loader:
        return None, only
    if "epoch" in words or words.split(" ")[0] in ("e", "ep"):
        return only, None
    return None, only
