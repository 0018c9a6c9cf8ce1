"""Keeps the probe's own time within its share of the run's."""

from collections import deque
from time import process_time

_SHARE = 0.01
_TOKENS_MAX_S = 0.25  # What a quiet stretch may save up: one pass over a large model.
_TOKENS_MIN_S = -0.05  # A debt that an alarm or an early measurement left is forgotten beyond this.
_COSTS_KEPT = 9
_RESERVED = "window"  # How the loop was left cannot be seen later: a short run must not spend all on other samples first.
_RESERVE_S = 0.03  # Once a process, some hundred windows: about a hundredth of what importing torch took here (3.6 s of CPU).


class Governor:
    """A token bucket in seconds. Every step earns a share of its duration; sampling spends what it costs.

    Costs are medians of recent measurements of the thread's CPU time. By the clock on the wall, or as a sum, they would
    hold the time of other programs too, and a busy machine would starve the sampling.
    """

    def __init__(self, share=_SHARE):
        self._share = share
        # The start of the process (importing torch alone takes a second) earned its share too.
        self.tokens_s = share * process_time()
        self._reserve_s = _RESERVE_S
        self.spent_s = 0.0
        self._costs = {}
        self._medians = {}
        self._always_s = 0.0

    def earn(self, duration_s):
        """A step took this long, and the part of the probe that is always on took its own part of it."""
        self.spent_s += self._always_s
        tokens = self.tokens_s + self._share * duration_s - self._always_s
        self.tokens_s = max(min(tokens, _TOKENS_MAX_S), _TOKENS_MIN_S)

    def set_always_on(self, seconds):
        self._always_s = self._note("always", 1, seconds)

    def affords(self, what, units=1):
        """Whether `units` of a work that was measured before fit into the tokens. The first time always does."""
        cost = self.cost(what, units)
        return cost <= self.tokens_s or (what == _RESERVED and cost <= self._reserve_s)

    def cost(self, what, units=1):
        return self._medians.get(what, 0.0) * units

    def spend(self, what, units, seconds):
        cost = self._note(what, units, seconds) * units
        self.spent_s += cost
        if what == _RESERVED and cost <= self._reserve_s:
            self._reserve_s -= cost
        else:
            self.tokens_s -= cost

    def _note(self, what, units, seconds):
        costs = self._costs.setdefault(what, deque(maxlen=_COSTS_KEPT))
        costs.append(seconds / max(units, 1))
        median = self._medians[what] = sorted(costs)[len(costs) // 2]
        return median
