"""What the observers of all frameworks begin with."""

from whystop_probe.torch import probe as torch_probe
from whystop_probe.frameworks.stop_flag import StopFlag
from whystop_probe.core.tap import tap


def observe(owner, flag, framework, observer_of, taps):
    """Puts a StopFlag in the place of `owner.flag` and listens to functions: taps(observer) lists (function, before, after).

    Without a training of torch in this process there is nothing to tell, and nothing is changed.
    """
    training = torch_probe.current
    if training is None:
        return
    setattr(owner, flag, StopFlag(flag, training, framework))
    for function, before, after in taps(observer_of(training)):
        tap(function, before=before, after=after)
