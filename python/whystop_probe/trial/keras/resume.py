"""The weights at the end of the untouched trial, for the one that goes on from there."""

import os

import numpy

from whystop_probe.core.guard import quiet


@quiet
def save_to(path, model):
    if not os.path.exists(path):
        with open(path, "wb") as file:
            numpy.savez(file, *model.get_weights())


def load_from(path, model):
    """Whether the weights were there and fit this model."""
    with numpy.load(path) as saved:
        weights = [saved[name] for name in saved.files]
    if [w.shape for w in weights] != [w.shape for w in model.get_weights()]:
        return False
    model.set_weights(weights)
    return True
