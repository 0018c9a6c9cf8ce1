"""In which phase a run is while it makes no steps. The watcher learns how long each may take."""

from time import perf_counter

from whystop_probe.core.guard import quiet

_EVERY_S = 1.0  # What comes more often than that is a part of the steps.


class Phases:
    """A phase lasts until the next step, or until another one is told."""

    def __init__(self, training):
        self._training = training
        self._phase = "train"
        self._step = 0  # At which it began.
        self._told_s = {}  # Phase -> when it was told last.

    @quiet
    def evaluate(self):
        self._enter("eval")

    @quiet
    def save(self):
        """Returns the phase to go back to; None: it was not told."""
        return self._enter("checkpoint")

    @quiet
    def go_back(self, phase):
        if phase is not None:
            self._tell(phase)

    def _enter(self, phase):
        now = perf_counter()
        # What is evaluated and saved before the first step belongs to the start.
        if self._training.pulse.steps == 0 or now - self._told_s.get(phase, -_EVERY_S) < _EVERY_S:
            return None
        self._told_s[phase] = now
        before = self._phase if self._step == self._training.step else "train"
        self._tell(phase)
        return before

    def _tell(self, phase):
        self._phase, self._step = phase, self._training.step
        self._training.channel.writer.phase(phase)
