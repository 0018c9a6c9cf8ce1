"""Keeps the probe's own time within its share of the run's."""

from collections import deque
from time import process_time

from whystop_probe.core.run_delay import RunDelay

# Of the 1 % that is promised, for what is done now and then. What every step costs comes on top: 5 us by the account and 12 with
# what is missing from the caches, 0.6 % of a 1.8 ms step and nothing to speak of where steps are long (docs/performance.md). If
# that were taken from the share, fast loops would hardly ever be sampled.
_SHARE = 0.003
# What is wrong with a training shows in its first seconds, and many runs are over soon: at that share a run of five seconds would
# afford a handful of samples, fewer on a busy machine. This adds an eighth of a second to a process, once: about a thirtieth of
# the CPU time that importing a framework takes.
_EARLY_SHARE = 0.02
_EARLY_S = 8.0
_COSTS_KEPT = 9
_STEPS_MAX = 1000  # Where steps earn nothing: after so many that is asked again.
_PACE_EVERY_S = 0.5
_RESERVED = "window"  # How the loop was left cannot be seen later: a short run must not spend all on other samples first.
_RESERVE_S = 0.06  # Once a process, some hundred windows: a sixtieth of the CPU time that importing one takes (3.6 s here).


class Governor:
    """A token bucket in seconds. Every step earns a share of its duration (Pulse does that); sampling spends what it costs.

    Costs are medians of recent measurements of the thread's CPU time. By the clock on the wall, or as a sum, they would
    hold the time of other programs too, and a busy machine would starve the sampling.
    """

    def __init__(self, pulse, share=_SHARE, early_share=_EARLY_SHARE):
        self._pulse = pulse
        self._later_share = share
        self._early_left_s = _EARLY_S  # Of training.
        self._share = pulse.share = max(share, early_share)
        self._delay = RunDelay()
        self._pace_then = (0.0, self._delay.seconds(), 0)
        self._paused_at = None
        self._step_s = 0.0
        # The start of the process (importing a framework alone takes a second) earned its share too.
        pulse.tokens_s = share * process_time()
        self._reserve_s = _RESERVE_S
        self.measured_s = 0.0  # The sum of all that was spent, as measured.
        self._costs = {}
        self._medians = {}

    @property
    def spent_s(self):
        return self._pulse.spent_s

    @property
    def step_s(self):
        """How long a step takes: as of the last half second, or the last one."""
        return self._step_s or self._pulse.duration_s

    @property
    def is_early(self):
        """Whether the training is in its first seconds, which may cost more."""
        return self._early_left_s > 0

    def keep_pace(self):
        """Called now and then: how long a step takes, without the time in which other programs had the processor. That time
        must earn nothing: it would be spent on top of the training's own."""
        now = self._pulse.elapsed_s
        then, delay_then, steps_then = self._pace_then
        if now - then < _PACE_EVERY_S:
            return
        delay, steps = self._delay.seconds(), self._pulse.step
        own_s = max(now - then - (delay - delay_then), 0.0)
        self._pace_then = (now, delay, steps)
        self._early_left_s -= own_s if steps > steps_then else 0.0
        if not self.is_early:
            self._share = self._later_share
        self._pulse.share = self._share * own_s / (now - then)
        self._step_s = own_s / max(steps - steps_then, 1)

    def pause(self, paused):
        """The probe was taken out, or put back: what other programs took meanwhile is not the training's."""
        delay = self._delay.seconds()
        if paused:
            self._paused_at = delay if self._paused_at is None else self._paused_at
        elif self._paused_at is not None:
            then, delay_then, steps_then = self._pace_then
            self._pace_then = (then, delay_then + delay - self._paused_at, steps_then)
            self._paused_at = None

    def set_always_on(self, seconds):
        """What the hooks of one step took by the clock: some of those readings hold the time of other programs."""
        self._note("always", 1, seconds)
        costs = self._costs["always"]
        self._pulse.always_s = sorted(costs)[len(costs) // 4]

    def affords(self, what, units=1):
        """Whether `units` of a work that was measured before fit into the tokens. The first time always does."""
        return self.cost(what, units) <= self._pulse.tokens_s or self.has_reserve(what)

    def has_reserve(self, what):
        return what == _RESERVED and self.cost(what) <= self._reserve_s

    def cost(self, what, units=1):
        return self._medians.get(what, 0.0) * units

    def steps_between(self, what, share, unearned=_STEPS_MAX):
        """How many steps may pass between two such works, so that they take this share of what the steps earn; `unearned` where they earn
        nothing."""
        earned, cost = share * self._share * self.step_s, self.cost(what)
        return int(cost / earned) if earned > 0 else unearned if cost > 0 else 0

    def spend(self, what, units, seconds):
        cost = self._note(what, units, seconds) * units
        self._pulse.spent_s += cost
        self.measured_s += seconds
        if what == _RESERVED and cost <= self._reserve_s:
            self._reserve_s -= cost
        else:
            self._pulse.tokens_s -= cost

    def _note(self, what, units, seconds):
        costs = self._costs.setdefault(what, deque(maxlen=_COSTS_KEPT))
        costs.append(seconds / max(units, 1))
        median = self._medians[what] = sorted(costs)[len(costs) // 2]
        return median
