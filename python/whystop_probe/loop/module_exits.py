"""How loops of a program without a framework were left: nobody saw it, but the variables of its main module are still there at its end."""

import sys

from whystop_probe.core import channel as channel_module
from whystop_probe.core import session
from whystop_probe.core.crash import ended_by_exception, users_own
from whystop_probe.core.guard import quiet
from whystop_probe.loop.meaning import meaning_of
from whystop_probe.loop.nest import Level
from whystop_probe.loop.plan import plan_of
from whystop_probe.loop.source import loops_of
from whystop_probe.loop.unseen import ran_out, unseen_exit
from whystop_probe.loop.unturned import Module
from whystop_probe.loop.values import Scope, values_text

_TOLD_MAX = 4
_TURNS_MIN = 3


@quiet
def tell(path):
    """Of the program in this file. Whether one of its loops trains is for the reader to say, who knows what was printed."""
    main = sys.modules.get("__main__")
    if main is None or path is None or not users_own(path) or ended_by_exception() or any(training.pulse.steps for training in session.trainings()):
        return
    scope = Scope(main.__dict__, main.__dict__)
    told = 0
    for loop in loops_of(Module(path)):
        level = Level(Module(path), loop)
        level.plan = plan_of(loop, scope)
        if loop.parent is None and (level.plan.planned or 0) >= _TURNS_MIN and told < _TOLD_MAX:
            told += _tell_of(level, scope, path)


def _tell_of(level, scope, path):
    """1 where it was left before its end, else 0."""
    loop, turn = level.loop, level.plan.turn(scope)
    leaving = unseen_exit(level, scope, False)
    if leaving is not None:
        conditions, how = leaving.expressions(), leaving.how
    elif turn is not None and turn < level.plan.planned and ran_out(level, scope):
        conditions, how = [loop.node.test], "end"
    else:
        return 0
    meaning, decided = meaning_of(loop, conditions, scope, how == "end")
    shared = channel_module.shared()
    shared.open()
    shared.observe(
        "module-loop-exit",
        file=path,
        line=loop.line if leaving is None else leaving.line,
        loop_line=loop.line,
        function="<module>",
        how=how,
        level=0,
        levels=1,
        role="epochs",
        condition=level.plan.over if leaving is None else leaving.text(),
        values=values_text(conditions, scope),
        meaning=meaning,
        decided=decided,
        seen=False,
        turn=turn,
        planned=level.plan.planned,
        variable=level.plan.variable,
    )
    return 1
