"""Where a value of the user's comes from, as far as his source says it in one line."""

import ast
import linecache
import sys

from whystop_probe.core.crash import users_own
from whystop_probe.loop.nest import release

_FRAMES_MAX = 40
_SOURCE_LINES_MAX = 20000
_DRAWS = frozenset("randint random_integers integers rand randn random random_sample choice uniform normal".split())


def drawn(value):
    """(name, the call's text, line) where a variable of the user's holds this very value and got it from a draw of random numbers, else None."""
    frame = sys._getframe(1)
    for _ in range(_FRAMES_MAX):
        if frame is None:
            return None
        if users_own(frame.f_code.co_filename):
            names = {name for scope in (frame.f_locals, frame.f_globals) for name, held in list(scope.items()) if held is value}
            release(frame)
            found = _draw_of(frame.f_code.co_filename, names) if names else None
            if found is not None:
                return found
        frame = frame.f_back
    return None


def _draw_of(path, names):
    """Only where nothing else is ever assigned to the name: what is drawn and then sorted, mapped or mended is not drawn any more."""
    lines = linecache.getlines(path)
    if not lines or len(lines) > _SOURCE_LINES_MAX:
        return None
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    assigned = {}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []
        for target in targets:
            base = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(base, ast.Name) and base.id in names:
                assigned.setdefault(base.id, []).append(node)
    for name, nodes in assigned.items():
        call = _draw_in(nodes[0].value) if len(nodes) == 1 else None
        if call is not None and not any(_makes_data_of(name, node) for node in ast.walk(tree)):
            return name, ast.unparse(call.func), nodes[0].lineno
    return None


def _makes_data_of(name, node):
    """`x[:, 0] = y`, `x = centres[y] + noise`, `x = y * w + randn(n)`: made data is often drawn from its own labels, which then say all."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if any(_holds(target.slice, name) for target in targets if isinstance(target, ast.Subscript)):
        return True
    if not _holds(node.value, name):
        return False
    inner = list(ast.walk(node.value))
    picked_by = any(isinstance(one, ast.Subscript) and _holds(one.slice, name) for one in inner)
    reckoned = any(isinstance(one, ast.BinOp) for one in inner) and any(_draw_in(one) is one for one in inner if isinstance(one, ast.Call))
    return picked_by or reckoned or any(isinstance(target, ast.Subscript) for target in targets)


def _holds(node, name):
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _draw_in(node):
    """The draw under conversions such as `.long()` or `tensor(...)`."""
    while isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _DRAWS:
            return node
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            node = function.value
        elif name in ("tensor", "from_numpy", "as_tensor", "array", "asarray", "LongTensor") and node.args:
            node = node.args[0]
        else:
            return None
    return None
