"""Names whoever asks a framework to stop: a data descriptor in the place of the framework's own flag."""

import sys

from whystop_probe.core.crash import users_own
from whystop_probe.core.guard import quiet
from whystop_probe.loop.nest import release
from whystop_probe.core.kinds import plain

_FACTS = (
    "patience wait_count best_score monitor min_delta mode stopped_epoch stopping_threshold divergence_threshold "
    "early_stopping_patience early_stopping_patience_counter early_stopping_threshold best_metric"
).split()


class StopFlag:
    """Keeps the value where it was, in the instance, and tells when it turns true."""

    def __init__(self, name, training, told_as):
        self._name = name
        self._training = training
        self._told_as = told_as

    def __get__(self, owner, kind=None):
        if owner is None:
            return False  # What the class attribute would have been.
        try:
            return owner.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, owner, value):
        before = owner.__dict__.get(self._name)
        owner.__dict__[self._name] = value
        if before is not True and value is True:
            self._tell(sys._getframe(1))

    @quiet
    def _tell(self, frame):
        code = frame.f_code
        names = frame.f_locals
        setter = names.get("self")
        facts = {}
        stored = getattr(setter, "__dict__", {})
        for name in _FACTS:
            value = plain(stored.get(name))
            if isinstance(value, (bool, int, float, str)):
                facts[name] = value
        state = names.get("state")
        best = getattr(state, "__dict__", {}).get("best_metric")
        if isinstance(best, (int, float)):
            facts["best_metric"] = best
        arguments = getattr(names.get("args"), "__dict__", {})  # transformers keeps there what its callback watches.
        if isinstance(arguments.get("metric_for_best_model"), str):
            facts["monitor"] = arguments["metric_for_best_model"]
            facts["mode"] = "max" if arguments.get("greater_is_better") else "min"
        release(frame)
        self._training.channel.observe(
            "framework-stop",
            self._training.step,
            framework=self._told_as,
            who=type(setter).__name__ if setter is not None else code.co_name,
            function=code.co_name,
            file=code.co_filename,
            line=frame.f_lineno,
            users_own=users_own(code.co_filename),
            **facts,
        )
