"""Who asked Keras to stop: the callback, its line and its settings."""

import linecache
import sys

from whystop_probe.core.crash import users_own
from whystop_probe.core.guard import quiet
from whystop_probe.core.kinds import plain
from whystop_probe.loop.nest import release, scope_of
from whystop_probe.loop.source import conditions_at
from whystop_probe.loop.values import values_text

_FRAMES_MAX = 40
_FACTS_MAX = 16


class StopTraining:
    """Stands in the place of `stop_training` on the trainer's class: the value stays in the instance, where it was."""

    _NAME = "stop_training"

    def __init__(self, told, absent):
        self._told = told  # (facts)
        self._absent = absent  # What the class attribute was, or None: then there is no value before the first is set.

    def __get__(self, owner, kind=None):
        if owner is None:
            return self if self._absent is None else self._absent
        try:
            return owner.__dict__[self._NAME]
        except KeyError:
            if self._absent is not None:
                return self._absent
            raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{self._NAME}'") from None

    def __set__(self, owner, value):
        before = owner.__dict__.get(self._NAME)
        owner.__dict__[self._NAME] = value
        if value and not before:
            self._tell(sys._getframe(1))

    def __delete__(self, owner):
        try:
            del owner.__dict__[self._NAME]
        except KeyError:
            raise AttributeError(self._NAME) from None

    @quiet
    def _tell(self, frame):
        self._told(setter_of(frame))


def setter_of(frame):
    """The line that set the flag, and the callback in whose name it ran."""
    while frame is not None and frame.f_code.co_name == "__setattr__":
        frame = frame.f_back
    if frame is None:
        return {}
    code, line = frame.f_code, frame.f_lineno
    own = users_own(code.co_filename)
    conditions = conditions_at(code, line) if own else []
    values = values_text([expression for expression, _ in conditions], scope_of(frame)) if conditions else None
    release(frame)
    callback = callback_of(frame)
    facts = facts_of(callback)
    facts.update(
        who=type(callback).__name__ if callback is not None else code.co_name,
        function=code.co_name,
        file=code.co_filename,
        line=line,
        source=linecache.getline(code.co_filename, line).strip()[:200],
        users_own=own,
        condition=" and ".join(text for _, text in conditions)[:200] or None,
        values=values or None,
    )
    return facts


def callback_of(frame):
    """The callback whose turn it is: the local of that name in the list's own frame, which holds for lambdas too."""
    for _ in range(_FRAMES_MAX):
        if frame is None:
            return None
        if "callback" in frame.f_code.co_varnames and not users_own(frame.f_code.co_filename):
            found = frame.f_locals.get("callback")
            release(frame)
            if found is not None:
                return found
        frame = frame.f_back
    return None


def facts_of(callback):
    """Plain settings and counters of a callback: patience, wait, best, monitor, ..."""
    facts = {}
    for name, value in list(getattr(callback, "__dict__", {}).items()):
        value = plain(value)
        numbers = isinstance(value, (bool, int, float))
        if len(facts) < _FACTS_MAX and (numbers or (isinstance(value, str) and name in ("monitor", "mode"))) and not name.startswith("_"):
            facts[name] = value
    return facts
