"""How the processes of a pool ended: only their parent is told, by the kernel, and it keeps the number to itself."""

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
