"""How the outermost loop was left if no window saw it: by elimination, at the end of the process."""

import sys

from whystop_probe.core.crash import users_own
from whystop_probe.loop.source import exits_in_helpers
from whystop_probe.loop.values import Unknown

_QUIET_EXITS = ("break", "return", "exit")  # No exception was on its way, or the process would have ended by it.


def unseen_exit(level, scope, cut_short):
    """The one statement that can have left this loop, or None. `scope` holds the loop's variables as they are now, or is None
    where they are gone; `cut_short` says that the batches of the last pass were not all taken."""
    for leaving in level.loop.exits:
        if leaving.how in _QUIET_EXITS and not leaving.conditions and leaving.loop is level.loop:
            return leaving  # Every turn comes to it, and the first one that does is the last.
    if not (cut_short or _before_its_end(level, scope)):
        return None
    possible = [(leaving, _holds(leaving, scope)) for leaving in level.loop.exits if leaving.how in _QUIET_EXITS]
    possible = [(leaving, holds) for leaving, holds in possible if holds is not False]
    likely = possible if len(possible) == 1 else [(leaving, holds) for leaving, holds in possible if holds]
    return likely[0][0] if len(likely) == 1 else None


def exit_of_a_helper(levels):
    """(file, statement) of the one `sys.exit()` in the user's other functions, or None: a loop that nothing of its own can have left
    in the middle, in a process that ends in order, was left through a function that it called."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())} | {level.code.co_filename for level in levels}
    codes = [level.code for level in levels]
    found = [(path, leaving) for path in sorted(path for path in files if path and users_own(path)) for leaving in exits_in_helpers(path, codes)]
    return found[0] if len(found) == 1 else None


def ran_out(level, scope):
    """Whether the condition of a `while` is false by now."""
    if level.loop.kind != "while" or scope is None:
        return False
    try:
        return not scope.value(level.loop.node.test)
    except Unknown:
        return False


def _before_its_end(level, scope):
    plan = level.plan
    turn = plan.turn(scope) if plan is not None and scope is not None else None
    return turn is not None and plan.planned is not None and turn < plan.planned


def _holds(leaving, scope):
    """Whether all its conditions hold now; None where reading variables does not tell."""
    if scope is None:
        return None
    try:
        return all(bool(scope.value(expression)) for expression, _ in leaving.conditions if expression is not None)
    except Unknown:
        return None
