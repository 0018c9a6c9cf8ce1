"""Starts the trial that WHYSTOP_TRIAL asks for in a Keras program: every call of `fit` passes through here."""

import atexit
import functools
import inspect
import os
import sys

from whystop_probe.core.guard import quiet
from whystop_probe.trial.begin import LEAVES, VARIABLE, parse
from whystop_probe.trial.keras.changes import make
from whystop_probe.trial.keras.follow import follower
from whystop_probe.trial.keras.guess import guess_of
from whystop_probe.trial.keras.resume import save_to
from whystop_probe.trial.keras.survey import survey
from whystop_probe.trial.watch import Watch

_NO_CHANGE = ("as-is", "steps")


def begin(trainer, training, finish):
    """`trainer`: the class that has `fit`."""
    words = parse(os.environ.get(VARIABLE, ""))
    changes = [make(name, value) for name, value in words.items() if name not in _NO_CHANGE]
    watch = Watch(None, training, int(words.get("steps") or 0), None, finish)
    watch.interventions = changes
    original = trainer.fit
    signature = inspect.signature(original)

    @functools.wraps(original)
    def fit(model, *args, **kwargs):
        bound = signature.bind(model, *args, **kwargs)
        settings = bound.arguments
        _look(model, settings, training)
        for change in changes:
            change.on_fit(model, settings)
        if not all(change.applied for change in changes):
            watch.end()  # There is nothing to see.
        guess = guess_of(model, settings.get("y"))
        callbacks = settings.get("callbacks") or []
        state = os.environ.get(LEAVES)
        if state:
            watch.before_end = functools.partial(save_to, state, model)
            atexit.register(watch.before_end)
        settings["callbacks"] = (list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]) + [follower(sys.modules["keras"], watch, guess)]
        return original(*bound.args, **bound.kwargs)

    trainer.fit = fit
    atexit.register(watch.tell)


@quiet
def _look(model, settings, training):
    training.channel.open()
    training.channel.observe("trial-survey", training.step, **survey(model, settings))

