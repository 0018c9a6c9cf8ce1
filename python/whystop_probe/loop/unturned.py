"""Training loops that never made a turn: at the end of a run without a single step they are all there is to tell."""

import ast
import sys

from whystop_probe.core.crash import users_own
from whystop_probe.loop.plan import plan_of
from whystop_probe.loop.source import loops_of
from whystop_probe.loop.values import Scope, values_text

_TOLD_MAX = 4
_TRAINING_CALLS = frozenset(["step", "backward", "train_step", "training_step", "train_epoch", "train_one_epoch", "train"])


def tell_unturned(channel, path):
    """The main program's own loops: its variables are still there when the process ends. Those of functions are gone."""
    main = sys.modules.get("__main__")
    if main is None or path is None or not users_own(path):
        return
    scope = Scope(main.__dict__, main.__dict__)
    told = _tell_of_functions(channel, path, scope)
    for loop in loops_of(Module(path)):
        plan = plan_of(loop, scope)
        start = _start(loop, plan, scope)
        if start is None or told >= _TOLD_MAX or not _trains(loop.node):
            continue
        told += 1
        header = loop.node.iter if loop.kind == "for" else loop.node.test
        channel.observe(
            "loop-never-turned",
            file=path,
            line=loop.line,
            kind=loop.kind,
            over=plan.over,
            values=values_text([header], scope),
            start=start,
        )


def _tell_of_functions(channel, path, scope):
    """Loops of functions of the main program that go on from somewhere: where, is gone with the function's variables."""
    told = 0
    for function in _functions(path):
        for loop in loops_of(function):
            header = loop.node.iter if loop.kind == "for" else None
            if header is None or told >= _TOLD_MAX or not _trains(loop.node):
                continue
            goes_on = loop.parent is None and _goes_on(header, scope)
            start = None if goes_on else 0
            if goes_on or (loop.parent is not None and _counts_samples(header)):
                told += 1
                channel.observe("loop-never-turned", file=path, line=loop.line, kind=loop.kind, over=ast.unparse(header)[:120], function=function.co_name, start=start)
    return told


def _functions(path):
    """Stand-ins for the code objects of the functions of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    return [_Function(path, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _goes_on(header, scope):
    """`range(start, end)` with a start that is no constant."""
    ranges = [node for node in ast.walk(header) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "trange")]
    return any(len(node.args) >= 2 and not isinstance(node.args[0], ast.Constant) for node in ranges)


def _counts_samples(header):
    """`range(0, len(data), size)`: over so many batches as there are samples for."""
    ranges = [node for node in ast.walk(header) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "trange")]
    from_zero = any(len(node.args) == 1 or getattr(node.args[0], "value", None) == 0 for node in ranges if node.args)
    return from_zero and "len(" in ast.unparse(header)


class _Function:
    """Looks like the code object of a function."""

    def __init__(self, path, node):
        self.co_filename = path
        self.co_name = node.name
        self.co_firstlineno = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])


class Module:
    """Looks like the code object of a module that has ended."""

    co_name = "<module>"

    def __init__(self, path):
        self.co_filename = path


def _start(loop, plan, scope):
    """Where the loop would have begun, if its header left it nothing to do; else None."""
    if loop.kind == "for":
        return plan.start if plan.kind == "range" and plan.planned == 0 and not plan.loader else None
    reached = plan.turn(scope)
    return reached if reached is not None and plan.planned is not None and reached >= plan.planned else None


def _trains(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            if name in _TRAINING_CALLS:
                return True
    return False
