"""Starts the trial that WHYSTOP_TRIAL asks for: "lr-times=0.1 steps=300". Called right after torch was imported."""

import atexit
import os

from whystop_probe.trial.interventions import make
from whystop_probe.trial.places import Places
from whystop_probe.trial.survey import Survey
from whystop_probe.trial.watch import Watch

VARIABLE = "WHYSTOP_TRIAL"
STATE = "WHYSTOP_TRIAL_STATE"  # The file that "continue" begins with.
LEAVES = "WHYSTOP_TRIAL_LEAVES"  # The one that the untouched trial leaves, and "continue" too.
_NO_INTERVENTION = ("as-is", "steps")


def parse(text):
    """ "a=1 b" -> {"a": "1", "b": ""}, in order."""
    return dict((word.split("=", 1) + [""])[:2] for word in text.split())


def begin(torch, training, finish):
    """`finish` tells what the probe still holds; it is called before the trial ends this process."""
    words = parse(os.environ.get(VARIABLE, ""))
    places = Places(torch)
    watch = Watch(torch, training, int(words.get("steps") or 0), os.environ.get(LEAVES), finish)
    interventions = [make(name, value, torch) for name, value in words.items() if name not in _NO_INTERVENTION]
    watch.interventions = interventions
    for intervention in interventions:  # The survey comes last: it sees the program as the interventions leave it.
        intervention.channel = training.channel
        places.add(intervention)
    watch.guesses = not any(intervention.memory_only for intervention in interventions)
    if watch.guesses:
        places.add(Survey(torch, training))
    places.add(watch)
    places.install()
    atexit.register(watch.save)
    atexit.register(watch.tell)
    return watch
