"""Evaluates the simple expressions of loop headers and conditions without ever running the user's code."""

import ast
import math
import operator

from whystop_probe.core import kinds
from whystop_probe.core.kinds import PLAIN as _PLAIN
from whystop_probe.core.kinds import plain

_NUMBERS = (int, float, bool)
_SIZED = (list, tuple, dict, set, frozenset, range, str, bytes)
_OBJECT_VALUES_MAX = 12
_TEXT_MAX = 80

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS = {"int": int, "float": float, "min": min, "max": max, "abs": abs, "round": round}
_TESTS = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}
_TRANSPARENT = frozenset(["item", "any", "all", "detach", "cpu", "sum", "mean"])  # Of a tensor with one element.


class Unknown(Exception):
    """The expression needs more than reading to be evaluated."""


class Scope:
    """The names of one frame. `local` may be a snapshot; nothing is ever written to it."""

    def __init__(self, local, shared):
        self._local = local
        self._shared = shared

    def name(self, name):
        if name in self._local:
            return self._local[name]
        if name in self._shared:
            return self._shared[name]
        raise Unknown(name)

    def value(self, node):
        """The value of an expression; raises Unknown rather than calling anything that is not known to be harmless."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise Unknown(type(node).__name__)
        try:
            return method(node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, OverflowError) as error:
            raise Unknown(str(error)) from None

    def number(self, node):
        value = plain(self.value(node))
        if isinstance(value, _NUMBERS):
            return value
        raise Unknown("no number")

    def _Constant(self, node):
        return node.value

    def _Name(self, node):
        return self.name(node.id)

    def _Attribute(self, node):
        return attribute(self.value(node.value), node.attr)

    def _Subscript(self, node):
        base = self.value(node.value)
        key = plain(self.value(node.slice.value if type(node.slice).__name__ == "Index" else node.slice))
        if isinstance(base, dict):
            return dict.__getitem__(base, key)
        if type(base) in (list, tuple):
            return base[key]
        raise Unknown("subscript")

    def _UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return not _truth(self.value(node.operand))
        if isinstance(node.op, ast.USub):
            return -self.number(node.operand)
        raise Unknown("operator")

    def _BinOp(self, node):
        function = _BINARY.get(type(node.op))
        if function is None:
            raise Unknown("operator")
        return function(self.number(node.left), self.number(node.right))

    def _BoolOp(self, node):
        stop_at = isinstance(node.op, ast.Or)
        value = None
        for part in node.values:
            value = _truth(self.value(part))
            if value is stop_at:
                return value
        return value

    def _Compare(self, node):
        left = plain(self.value(node.left))
        for op, right_node in zip(node.ops, node.comparators):
            right = plain(self.value(right_node))
            if isinstance(op, (ast.Is, ast.IsNot)):
                result = (left is right) == isinstance(op, ast.Is)
            elif type(op) in _COMPARE and isinstance(left, _PLAIN) and isinstance(right, _PLAIN):
                result = _COMPARE[type(op)](left, right)
            else:
                raise Unknown("comparison")
            if not result:
                return False
            left = right
        return True

    def _Call(self, node):
        if node.keywords:
            raise Unknown("call")
        function = node.func
        if isinstance(function, ast.Name):
            if function.id == "len" and len(node.args) == 1:
                return length(self.value(node.args[0]))
            if function.id in _FUNCTIONS:
                return _FUNCTIONS[function.id](*[self.number(item) for item in node.args])
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _TESTS and len(node.args) == 1:
            return _TESTS[name](self.number(node.args[0]))
        if isinstance(function, ast.Attribute) and name in _TRANSPARENT and not node.args:
            return self.number(function.value)
        raise Unknown("call")


def attribute(base, name):
    """An attribute that is stored, not computed: of the instance, or a plain constant of its class."""
    stored = getattr(base, "__dict__", None)
    if isinstance(stored, dict) and name in stored:
        return stored[name]
    if type(base) in (dict,) and name in base:
        return base[name]
    for kind in type(base).__mro__:
        if name in kind.__dict__:
            found = kind.__dict__[name]
            if isinstance(found, _PLAIN):
                return found
            if type(found).__name__ == "member_descriptor":
                return found.__get__(base)  # __slots__
            break
    raise Unknown(name)


def _truth(value):
    value = plain(value)
    if isinstance(value, _PLAIN) or type(value) in _SIZED:
        return bool(value)
    raise Unknown("truth")


def length(value):
    """How many turns a loop over this value would make, for types whose length is known to be harmless to ask."""
    if type(value) in _SIZED:
        return len(value)
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.ndim > 0:
        return value.shape[0]
    if kind.__name__ in ("tqdm", "tqdm_notebook", "tqdm_rich"):
        total = value.__dict__.get("total")
        return int(total) if total is not None else length(value.__dict__.get("iterable"))
    turns = kinds.length(value)
    if turns is None:
        raise Unknown("length")
    return turns


def values_text(expressions, scope):
    """The values of everything that conditions name, as text: "wait=2, patience=2"."""
    found = {}
    for expression in expressions:
        for node in ast.walk(expression):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(getattr(node, "ctx", None), ast.Load):
                _add_value(node, scope, found)
    return ", ".join(f"{name}={text}" for name, text in list(found.items())[:24])


def _add_value(node, scope, found):
    name = ast.unparse(node)
    if name in found:
        return
    try:
        value = plain(scope.value(node))
    except Unknown:
        return
    if isinstance(value, _PLAIN):
        found[name] = shown(value)
    elif isinstance(node, ast.Name) and not kinds.is_foreign(value) and not isinstance(value, type):
        _add_object(name, value, found)


def _add_object(name, value, found):
    """The plain attributes of a user's object: a hand-written early stopper keeps its counter there."""
    stored = getattr(value, "__dict__", None)
    if not isinstance(stored, dict) or type(value).__name__ == "module" or "_modules" in stored or len(stored) > 40:
        return
    for key in list(stored)[:_OBJECT_VALUES_MAX]:
        item = plain(stored[key])
        if isinstance(item, _NUMBERS) and not key.startswith("__"):  # Texts may hold secrets.
            found[f"{name}.{key}"] = shown(item)


def shown(value):
    return (repr(value) if not isinstance(value, float) else f"{value:.6g}")[:_TEXT_MAX]
