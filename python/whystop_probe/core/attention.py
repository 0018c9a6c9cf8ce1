"""How often the observers of a training are asked whether they have something to do."""

from time import thread_time

from whystop_probe.core.guard import quiet

_WHOLE_STEPS = 64  # The first steps get everything.
_SHARE = 0.2  # Of the tokens that steps earn.
_PASSED_MAX = 256


class Attention:
    """Called behind a step at which attention is due; says when it is due again, so that all of it stays within its share."""

    def __init__(self, training, work):
        self._training = training
        self._work = work  # (optimizer, time) -> whether the next step is wanted too.
        self._measured_then = 0.0
        self._keeping_s = 0.0  # What keeping these books took the last time.
        training.pulse.attend = self._attend

    @quiet
    def _attend(self, optimizer, now):
        pulse, governor = self._training.pulse, self._training.governor
        start, spent_then = thread_time(), governor.measured_s
        governor.keep_pace()
        if pulse.measured_s != self._measured_then:
            self._measured_then = pulse.measured_s
            governor.set_always_on(pulse.measured_s)
        again = self._work(optimizer, now)
        end = thread_time()
        governor.spend("attention", 1, max(0.0, end - start - (governor.measured_s - spent_then)) + self._keeping_s)
        passed = 0 if again or pulse.step < _WHOLE_STEPS else governor.steps_between("attention", _SHARE)
        pulse.attention_at = pulse.step + 1 + min(passed, _PASSED_MAX)
        self._keeping_s = thread_time() - end
