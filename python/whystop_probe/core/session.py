"""The trainings of this process, one a framework that trains here. What is told of the process is told once.

One framework on top of another is seen by two observers: whoever made the steps speaks, the other keeps silent.
"""

import atexit
import os
import platform
import sys
from time import process_time

from whystop_probe.core import channel as channel_module
from whystop_probe.core import guard, python_warnings, ring
from whystop_probe.core.governor import Governor
from whystop_probe.core.guard import quiet
from whystop_probe.core.pulse import Pulse
from whystop_probe.core.training import Training

_trainings = []


def begin():
    """A training of one framework: with a pulse and a budget of its own."""
    channel = channel_module.shared()
    channel.open()
    channel.writer.set_flags(ring.FLAG_PROBE | ring.FLAG_FRAMEWORK)
    pulse = Pulse()
    channel.on_writer(pulse)
    training = Training(channel, Governor(pulse), pulse)
    if not _trainings:
        python_warnings.install(training)
        atexit.register(_tell_ends)
    _trainings.append(training)
    return training


def trainings():
    """Of all frameworks that were imported here."""
    return tuple(_trainings)


def is_silent(training):
    """Another framework made the steps: whatever this one saw was that one's doing."""
    return training.pulse.steps == 0 and any(other.pulse.steps > 0 for other in _trainings if other is not training)


def _tell_ends():
    for training in _trainings:
        if not is_silent(training):
            training.tell_end()
    _tell_exit()


@quiet
def _tell_exit():
    """The interpreter comes to its end by itself."""
    channel_module.shared().observe("process-exit")


@quiet
def describe_process(channel, frameworks):
    """The "python" observation."""
    main = sys.modules.get("__main__")
    channel.observe(
        "python",
        version=platform.python_version(),
        program=os.path.basename(getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "")),
        native=ring.tensor_stats is not None,
        cpu_limit_s=_cpu_limit(),
        **frameworks,
    )


def _cpu_limit():
    """The seconds of CPU time after which the kernel kills this process; None: as many as it likes. A script may have set it."""
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    except (ImportError, OSError, ValueError):
        return None
    return None if hard == resource.RLIM_INFINITY else hard


@quiet
def tell_totals(training):
    """The observations "counts", "overhead" and "probe-failure"."""
    channel = training.channel
    channel.observe("counts", training.step, **training.counts())
    channel.observe("overhead", training.step, own_s=training.governor.spent_s, process_cpu_s=process_time())
    for what, count in guard.failures.items():
        channel.observe("probe-failure", training.step, what=what, count=count)
