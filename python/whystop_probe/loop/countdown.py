"""How many steps an exit of a loop is away, where a counter decides: `if global_step >= max_steps: break`."""

import ast

from whystop_probe.loop.values import Unknown

_RISES_TO = (ast.GtE, ast.Gt, ast.Eq)


class Countdown:
    """Follows the distance between a counter and its bound. Only whole numbers count: a loss that falls is no counter."""

    def __init__(self, leaving):
        test = leaving.conditions[-1][0] if leaving.conditions else None
        counts = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _RISES_TO)
        self._test = test if counts and isinstance(test.left, (ast.Name, ast.Attribute)) else None
        self._then = None  # (distance, step) when it was read last

    def steps_left(self, scope, step):
        """At the pace seen so far; None where nothing is known."""
        if self._test is None:
            return None
        try:
            counter, bound = scope.number(self._test.left), scope.number(self._test.comparators[0])
        except Unknown:
            return None
        if type(counter) is not int or type(bound) is not int:
            return None
        distance, then = bound - counter, self._then
        self._then = (distance, step)
        if then is None or step <= then[1] or distance >= then[0] or distance < 0:
            return None
        return distance * (step - then[1]) / (then[0] - distance)
