"""How many turns a loop means to make, and in which one it is."""

import ast
from types import GeneratorType

from whystop_probe.core.kinds import is_loader
from whystop_probe.loop.values import Unknown, length

_WRAPPERS = frozenset(["tqdm", "trange", "track", "progress_bar", "prange", "list", "iter", "reversed", "sorted", "tqdm_notebook", "cycle_once"])
_SPENT_BY_ONE_PASS = (GeneratorType, enumerate, filter, map, zip)


class Plan:
    """The plan of one loop, evaluated in the frame that runs it. Absent values are not known."""

    def __init__(self, kind, planned=None, variable=None, start=0, stride=1, over="", loader=False, spends=False, bounded=False, once=False):
        self.kind = kind  # "range", "sized", "while", "unknown"
        self.planned = planned
        self.variable = None  # The name that counts the turns; None: nothing does.
        self._counter = None
        if variable is not None:
            self.count_by(variable)
        self.start = start
        self.stride = stride
        self.over = over  # The header's expression, as written.
        self.loader = loader  # The loop takes its turns from a DataLoader.
        self.bounded = bounded  # Over a `range`: where it comes to its end, it has made all its turns.
        self.spends = spends  # It goes over an iterator that was there before it: a second pass finds nothing.
        self.once = once  # The same for sure: no class of the user's, which may begin anew.

    def count_by(self, variable):
        self.variable = variable
        self._counter = ast.parse(variable, mode="eval").body

    def turn(self, scope):
        """The turn the loop is in, from 1, or None."""
        if self._counter is None:
            return None
        try:
            value = scope.number(self._counter)
        except Unknown:
            return None
        if self.kind == "while":
            return value
        return (value - self.start) // self.stride + 1


def plan_of(loop, scope):
    node = loop.node
    if loop.kind == "while":
        return _plan_while(loop, scope)
    plan = _plan_iterable(node.iter, scope)
    plan.over = _text(node.iter)
    target = node.target
    counted = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) and target.elts else target
    if plan.kind == "range" and isinstance(counted, ast.Name):
        plan.count_by(counted.id)
    if plan.planned is None and not plan.loader:
        by_exit = _plan_by_exit(loop, scope)
        if by_exit is not None:
            by_exit.over, by_exit.spends, by_exit.once = plan.over, plan.spends, plan.once
            return by_exit
    return plan


def _plan_iterable(node, scope):
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("range", "trange", "prange") and 1 <= len(node.args) <= 3:
            return _plan_range(node.args, scope)
        if name == "enumerate" and node.args:
            return _plan_enumerate(node, scope)
        if name == "zip" and node.args:
            plans = [_plan_iterable(item, scope) for item in node.args]
            known = [plan.planned for plan in plans if plan.planned is not None]
            return Plan("sized", min(known) if known else None, loader=any(plan.loader for plan in plans))
        if name in _WRAPPERS and node.args:
            return _plan_iterable(node.args[0], scope)
        if name in ("items", "values", "keys") and isinstance(node.func, ast.Attribute):
            return _plan_value(node.func.value, scope)
        return Plan("unknown")
    return _plan_value(node, scope)


def _plan_range(arguments, scope):
    try:
        numbers = [int(scope.number(item)) for item in arguments]
        turns = range(*numbers)
    except (Unknown, ValueError, TypeError):
        return Plan("range")
    return Plan("range", len(turns), start=turns.start, stride=turns.step, bounded=True)


def _plan_enumerate(node, scope):
    inner = _plan_iterable(node.args[0], scope)
    start = 0
    extra = node.args[1:2] or [keyword.value for keyword in node.keywords if keyword.arg == "start"]
    if extra:
        try:
            start = int(scope.number(extra[0]))
        except Unknown:
            return Plan("sized", inner.planned, loader=inner.loader)
    return Plan("range", inner.planned, start=start, loader=inner.loader)


def _plan_value(node, scope):
    try:
        value = scope.value(node)
    except Unknown:
        return Plan("unknown")
    loader = is_loader(value) or is_loader(getattr(value, "__dict__", {}).get("iterable"))
    if type(value) is range:
        return Plan("range", len(value), start=value.start, stride=value.step, bounded=True)
    try:
        return Plan("sized", length(value), loader=loader)
    except Unknown:
        return Plan("unknown", loader=loader, spends=hasattr(type(value), "__next__"), once=isinstance(value, _SPENT_BY_ONE_PASS))


def _plan_while(loop, scope):
    """`while step < total`; or, under `while True`, an exit by a counter that every turn raises."""
    raised = _raised(loop)
    plans = [_plan_compare(test, scope, (ast.Lt, ast.LtE, ast.NotEq)) for test in _conjuncts(loop.node.test)]
    plans = [plan for plan in plans if plan is not None and (plan.variable in raised or plan.planned >= 2)]
    if plans:
        plan = min(plans, key=lambda plan: plan.variable not in raised)
        plan.over = _text(loop.node.test)
        return plan
    return _plan_by_exit(loop, scope) or Plan("while", over=_text(loop.node.test))


def _raised(loop):
    """Names that every turn raises."""
    return {_text(node.target) for node in loop.node.body if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)}


def _plan_by_exit(loop, scope):
    """The end of a loop that has none of its own: a counter that every turn raises, and an exit when it reaches a bound."""
    raised = _raised(loop)
    for leaving in loop.exits:
        for expression, _ in leaving.conditions[-1:]:
            plan = _plan_compare(expression, scope, (ast.GtE, ast.Gt, ast.Eq)) if expression is not None else None
            if plan is not None and plan.variable in raised:
                plan.over = leaving.text()
                return plan
    return None


def _conjuncts(test):
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _plan_compare(test, scope, operators):
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], operators):
        return None
    if not isinstance(test.left, (ast.Name, ast.Attribute)):
        return None
    try:
        bound = scope.number(test.comparators[0])
        scope.number(test.left)
    except Unknown:
        return None
    if not float(bound).is_integer():  # A goal, such as an accuracy, and no number of turns.
        return None
    return Plan("while", bound, variable=_text(test.left))


def _text(node):
    return ast.unparse(node)[:120]
