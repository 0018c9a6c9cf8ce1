"""What the condition means under which a loop was left: from the syntax tree and the values that it had then.

A counter that is raised by one and set back to nothing in the same loop counts how often in a row something did not happen: that
is patience, whatever its name; unless it is raised where a value of the loop has reached a bound from outside, which is a goal that must hold for some
turns. A value that the loop computes anew and compares with a bound from outside is a goal; compared with
another value of the loop, such as the best so far, it is patience of one. A value that comes from a clock is a time budget, one that
is an optimizer's rate a floor of the rate. A name that the loop sets means what its value means.
"""

import ast
import linecache

from whystop_probe.core.kinds import plain
from whystop_probe.loop.values import Scope, Unknown

PATIENCE, NOT_FINITE, TARGET, TIME, RATE = "patience", "not-finite", "target", "time", "rate"
_FINITE_TESTS = frozenset(["isnan", "isinf", "isfinite"])
_CLOCKS = frozenset(["time", "monotonic", "perf_counter", "process_time", "time_ns", "monotonic_ns", "perf_counter_ns"])
_RATES = frozenset(["get_last_lr", "get_lr"])
_CLASS_LINES_MAX = 400
_LOWER_IS_BETTER = ("loss", "err", "mse", "mae", "nll", "perplexity", "ppl", "cost")


def meaning_of(loop, conditions, scope, turned_false):
    """(meaning, the text of the part that decided), or (None, None). `conditions` are the expressions that the statement stands
    under, or the test of a `while` that has `turned_false`."""
    for expression in conditions:
        for part in _deciding(expression, scope, not turned_false):
            found = _meaning(part, loop, scope)
            if found is not None:
                return found, ast.unparse(part)[:120]
    return None, None


def meaning_of_flag(loop, condition):
    """The same of the condition, as text, under which a flag was set, by its syntax alone: the values are gone by now."""
    try:
        expression = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError):
        return None, None
    return meaning_of(loop, [expression], Scope({}, {}), False)


def _deciding(expression, scope, wanted):
    """The parts of an `and` or `or` that made it `wanted`."""
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
        return _deciding(expression.operand, scope, not wanted)
    if not isinstance(expression, ast.BoolOp):
        return [expression]
    one_is_enough = isinstance(expression.op, ast.Or) == wanted
    parts = [part for part in expression.values if not one_is_enough or _holds(part, scope) in (wanted, None)]
    return [inner for part in parts for inner in _deciding(part, scope, wanted)]


def _holds(part, scope):
    try:
        return bool(plain(scope.value(part)))
    except (Unknown, RuntimeError):
        return None


def _meaning(part, loop, scope):
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and _called(node) in _FINITE_TESTS:
            return NOT_FINITE
    if isinstance(part, ast.Compare) and len(part.ops) == 1:
        return _meaning_of_compare(part, loop, scope)
    if _is_stopper(part, scope):
        return PATIENCE
    if isinstance(part, ast.Call) and _called(part) == "bool" and part.args:
        return _meaning(part.args[0], loop, scope)
    found = [_meaning(value, loop, scope) for value in _assigned(loop.node, part)]
    return next((meaning for meaning in found if meaning), None)


def _assigned(body, name):
    """What the loop sets this name to, but for what is made of the name itself."""
    if not isinstance(name, ast.Name):
        return []
    values = [node.value for node in ast.walk(body) if isinstance(node, ast.Assign) and any(ast.unparse(target) == name.id for target in node.targets)]
    return [value for value in values if not any(isinstance(inner, ast.Name) and inner.id == name.id for inner in ast.walk(value))]


def _meaning_of_compare(part, loop, scope):
    left, right = part.left, part.comparators[0]
    if isinstance(part.ops[0], ast.NotEq) and ast.dump(left) == ast.dump(right):
        return NOT_FINITE  # Only NaN differs from itself.
    if not isinstance(part.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)):
        return None
    if not isinstance(part.ops[0], ast.Eq) and _tells_time(part, _clocked(loop.node)):
        return TIME
    if any(_tells_rate(side, loop.node) and _is_below(side, other, scope) for side, other in ((left, right), (right, left))):
        return RATE
    writes = _writes(loop.node)
    kinds = [set().union(*(writes.get(text, ()) for text in _values_in(side))) for side in (left, right)]
    for side, kind in zip((left, right), kinds):
        if {"raised", "reset"} <= kind:
            return TARGET if any(_counts_hits(loop.node, text, writes) for text in _values_in(side)) else PATIENCE
    if any("raised" in kind and _raised_without_gain(loop.node, text, writes) for side, kind in zip((left, right), kinds) for text in _values_in(side)):
        return PATIENCE
    computed = ["computed" in kind and "raised" not in kind for kind in kinds]
    if all(computed) and not isinstance(part.ops[0], ast.Eq):
        return PATIENCE
    if any(computed) and not isinstance(part.ops[0], ast.Eq):
        other = (left, right)[computed.index(False)]
        return TARGET if _from_outside(other, writes) else None
    return None


def _counts_hits(body, counter, writes):
    """Whether the counter is raised where a value that the loop computes lies on the good side of a bound from outside."""
    for node in ast.walk(body):
        if not isinstance(node, (ast.If, ast.IfExp)) or not isinstance(node.test, ast.Compare) or len(node.test.ops) != 1:
            continue
        raised = node.body if isinstance(node, ast.IfExp) else ast.Module(body=node.body, type_ignores=[])
        by_branch = {"raised"} if isinstance(node, ast.IfExp) and _adds_one(raised, counter) else _writes(raised).get(counter, set())
        if "raised" not in by_branch:
            continue
        value, bound, above = node.test.left, node.test.comparators[0], isinstance(node.test.ops[0], (ast.Gt, ast.GtE))
        plain_value = isinstance(value, (ast.Name, ast.Attribute)) and "computed" in writes.get(ast.unparse(value), ())
        lower_is_better = any(word in ast.unparse(value).lower() for word in _LOWER_IS_BETTER)
        ordered = above or isinstance(node.test.ops[0], (ast.Lt, ast.LtE))
        if plain_value and ordered and _from_outside(bound, writes) and above is not lower_is_better and not _is_difference(body, ast.unparse(value)):
            return True
    return False


def _raised_without_gain(body, counter, writes):
    """Whether the counter is raised where two values that the loop computes are compared, such as this one and the best: it is never set back,
    and counts all the turns without a gain."""
    for node in ast.walk(body):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare) or len(node.test.comparators) != 1:
            continue
        branches = _writes(ast.Module(body=node.body + node.orelse, type_ignores=[]))
        sides = [any("computed" in writes.get(text, ()) for text in _values_in(side)) for side in (node.test.left, node.test.comparators[0])]
        if "raised" in branches.get(counter, ()) and all(sides):
            return True
    return False


def _adds_one(value, counter):
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and ast.unparse(value.left) == counter and isinstance(value.right, ast.Constant)


def _is_difference(body, name):
    """`gain = before - now`: how much better it got is no goal, though its bound stands outside."""
    assigned = [node.value for node in ast.walk(body) if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets)]
    return any(isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) for value in assigned for inner in ast.walk(value))


def _clocked(body):
    """The names that the loop sets to what a clock says."""
    names = set()
    for node in ast.walk(body):
        if isinstance(node, ast.Assign) and _tells_time(node.value, names):
            names.update(ast.unparse(target) for target in node.targets if isinstance(target, (ast.Name, ast.Attribute)))
    return names


def _tells_time(node, names):
    """Whether a clock is read in it, by itself or through one of `names`; not inside another call, which may do anything."""
    if isinstance(node, ast.Call):
        return _called(node) in _CLOCKS and not node.args
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node) in names
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return any(_tells_time(inner, names) for inner in ast.iter_child_nodes(node))
    return False


def _tells_rate(node, body):
    """Whether an optimizer's rate is read in it, or in what the loop sets it to: `group["lr"]`, `scheduler.get_last_lr()[0]`."""
    inside = [inner for value in [node, *_assigned(body, node)] for inner in ast.walk(value)]
    by_key = any(isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant) and inner.slice.value == "lr" for inner in inside)
    return by_key or any(isinstance(inner, ast.Call) and _called(inner) in _RATES for inner in inside)


def _is_below(node, other, scope):
    try:
        return bool(plain(scope.value(node)) <= plain(scope.value(other)))
    except (Unknown, RuntimeError, TypeError):
        return False


def _from_outside(node, writes):
    return all(ast.unparse(inner) not in writes for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute)))


def _values_in(node):
    """The names whose values it is computed from: `loss` of `float(loss)`, `last` of `sum(last) / len(last)`. How many a container
    holds is a count and none of its values."""
    if isinstance(node, ast.Call):
        own = node.func.value if isinstance(node.func, ast.Attribute) else None
        inner = [] if _called(node) == "len" else list(node.args) + ([own] if own is not None else [])
        return [text for part in inner for text in _values_in(part)]
    if isinstance(node, (ast.Name, ast.Attribute)):
        return [ast.unparse(node)]
    return [text for part in ast.iter_child_nodes(node) for text in _values_in(part)]


def _writes(body):
    """What is written inside: text of the target -> {"raised", "reset", "computed"}."""
    found = {}
    for node in ast.walk(body):
        if isinstance(node, ast.AugAssign):
            by_constant = isinstance(node.op, ast.Add) and isinstance(node.value, ast.Constant)
            found.setdefault(ast.unparse(node.target), set()).add("raised" if by_constant else "computed")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                _note_assign(target, node.value, found)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            found.setdefault(ast.unparse(node.func.value), set()).add("computed")
    return found


def _note_assign(target, value, found):
    if isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else [value] * len(target.elts)
        for one, its_value in zip(target.elts, values):
            _note_assign(one, its_value, found)
        return
    name = ast.unparse(target)
    if isinstance(value, ast.Constant):
        kind = "reset" if value.value == 0 and value.value is not False else "set"
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and ast.unparse(value.left) == name and isinstance(value.right, ast.Constant):
        kind = "raised"
    else:
        kind = "computed"
    found.setdefault(name, set()).add(kind)
    if isinstance(value, ast.IfExp):  # bad = 0 if better else bad + 1
        _note_assign(target, value.body, found)
        _note_assign(target, value.orelse, found)


def _called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_stopper(part, scope):
    """An object of the user's, asked by call or by attribute, whose class keeps such a counter."""
    node = part
    while isinstance(node, (ast.Call, ast.Attribute)):
        inner = node.func if isinstance(node, ast.Call) else node.value
        try:
            value = scope.value(inner)
        except Unknown:
            value = None
        if value is not None and not isinstance(value, (int, float, str, type)) and _keeps_patience(type(value)):
            return True
        node = inner
    return False


def _keeps_patience(kind):
    for owner in kind.__mro__:
        for function in owner.__dict__.values():
            code = getattr(function, "__code__", None)
            if code is None:
                continue
            lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : code.co_firstlineno - 1 + _CLASS_LINES_MAX]
            body = _first_definition(lines)
            if body is not None and any({"raised", "reset"} <= kinds for kinds in _writes(body).values()):
                return True
    return False


def _first_definition(lines):
    """The function that these lines begin with."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    own = [lines[0][indent:]] if lines else []
    for line in lines[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith((")", "def", "@")):
            break
        if line.strip() and len(line) - len(line.lstrip()) <= indent and own and own[0].lstrip().startswith("def"):
            break
        own.append(line[indent:] if line.strip() else "\n")
    try:
        return ast.parse("".join(own))
    except (SyntaxError, ValueError):
        return None
