"""How processes ended that this one had started: only their parent is told, by the kernel, and it keeps the number to itself.
And which of them it killed because their time was up."""

import os
import sys

from whystop_probe.core import channel
from whystop_probe.core.guard import quiet
from whystop_probe.core.tap import tap

_TOLD_MAX = 16
_told = {}  # pid -> status, of those that did not end well.


def install(module):
    """Called after `multiprocessing.popen_fork` was imported, with the first process that is started; spawned ones inherit from it."""
    tap(module.Popen.poll, after=_on_status)


@quiet
def _on_status(status, child, *rest):
    if not status or child.pid in _told or len(_told) >= _TOLD_MAX:
        return
    _told[child.pid] = status
    shared = channel.shared()
    shared.open()
    shared.observe("child-end", pid=child.pid, status=status)


def install_limits(module):
    """Called after `subprocess` was imported. `run(timeout=)` and who does the same by hand kill the child in the handler of TimeoutExpired."""

    @quiet
    def on_kill(child, number):
        error = sys.exc_info()[1]
        if not isinstance(error, module.TimeoutExpired) or child.returncode is not None or len(_told) >= _TOLD_MAX:
            return
        _told[child.pid] = -number
        shared = channel.shared()
        shared.open()
        shared.observe("child-time-up", pid=child.pid, signal=int(number), limit_s=float(error.timeout), program=_program(child.args))

    tap(module.Popen.send_signal, before=on_kill)


def _program(command):
    """`python train.py`, without the rest, which may hold secrets."""
    words = command.split() if isinstance(command, str) else [os.fsdecode(word) for word in command]
    script = next((word for word in words[1:] if word.endswith((".py", ".sh"))), "")
    return " ".join(os.path.basename(word) for word in (words[:1] + [script]) if word)
