"""Processes of one training that torch itself starts: torch.multiprocessing.spawn tells rank and exceptions to nobody else."""

import sys

from whystop_probe.core import crash
from whystop_probe.core.guard import quiet
from whystop_probe.core.tap import tap


def attach(torch, training):
    """Listens to init_process_group(), from whose end on a process knows its rank, and to the function that spawned processes run in."""
    distributed, spawn = torch.distributed, sys.modules.get("torch.multiprocessing.spawn")

    @quiet
    def on_joined(*arguments):
        ranks = distributed.get_world_size()
        if ranks > 1:
            training.channel.open()
            training.channel.writer.set_rank(distributed.get_rank(), ranks)

    if distributed.is_available():
        tap(distributed.init_process_group, after=on_joined)
    if spawn is not None:
        tap(spawn._wrap, failed=_on_end)


@quiet
def _on_end(error, *arguments):
    """An exception was caught, written into a file for the parent, and turned into an exit."""
    caught = error.__context__ if isinstance(error, SystemExit) else error
    if caught is not None:
        crash.report(type(caught), caught, caught.__traceback__)
