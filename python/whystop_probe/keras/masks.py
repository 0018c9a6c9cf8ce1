"""Scores that are masked by minus infinity ahead of a softmax. Where a sample leaves nothing unmasked, the softmax divides zero by zero."""

import sys

import numpy

from whystop_probe.core.feed import Gate
from whystop_probe.core.guard import quiet
from whystop_probe.core.tap import tap

_CALLS_MAX = 256  # Of `where`: a model that is traced or built shows all of its own in the first few.


class Masks:
    """Hears of two operations while a model is traced, or in its first steps; then of none."""

    def __init__(self):
        self._calls = 0
        self._where, self._softmax = Gate(self._on_where), Gate(self._on_softmax)
        self._where.open = True
        self.seen = False  # A softmax was given scores behind such a mask.

    def attach(self):
        tap(sys.modules["keras.src.ops.numpy"].where, before=self._where)
        tap(sys.modules["keras.src.ops.nn"].softmax, before=self._softmax)

    @quiet
    def _on_where(self, condition, *values):
        self._calls += 1
        if any(_is_minus_infinity(value) for value in values):
            self._softmax.open = True
        self._where.open = self._calls < _CALLS_MAX and not self._softmax.open

    @quiet
    def _on_softmax(self, *arguments):
        self.seen = True
        self._softmax.open = False


def _is_minus_infinity(value):
    return isinstance(value, (float, numpy.floating)) and value == -numpy.inf


def empty_samples(values):
    """How many samples hold nothing but zeros, which is how padding is written."""
    return int((values.reshape(len(values), -1) == 0).all(axis=1).sum()) if values.ndim >= 2 else 0
