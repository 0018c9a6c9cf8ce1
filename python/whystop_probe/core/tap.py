"""Lets the probe listen to a Python function without standing in its way.

Replacing a function by a wrapper shows: one more frame in every traceback, warnings that blame the wrapper (stacklevel),
functions that a compiler or a tracer can no longer read. So the function object stays, and its code is compiled again from
its own source with calls to the listeners added. Names, line numbers, frames, defaults and identity are as before.
"""

import __future__

import ast
import dis
import functools
import inspect

_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag

_BRACKET_LINES_MAX = 12
_VALUE = "_whystop_value"
_ERROR = "_whystop_error"
_tapped = []  # (function, its own code, its code with listeners)
_SLOTS = {name: f"\0whystop.{name}" for name in ("before", "after", "failed")}


def tap(function, before=None, after=None, failed=None, unless=None):
    """Adds listeners to `function`; returns False, and changes nothing, where that is not possible.

    before(*parameters), after(result, *parameters) and failed(error, *parameters) must never raise. Their results are
    ignored. `unless`: an expression in names of the function's module; where it is true, as while a compiler
    traces the function, no listener is called.
    """
    function = inspect.unwrap(function)
    old = getattr(function, "__code__", None)
    if old is None or old.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        return False
    listeners = {"before": before, "after": after, "failed": failed}
    listeners = {name: listener for name, listener in listeners.items() if listener is not None}
    try:
        tree = _parse(function)
        _insert(tree.body[0].body[-1], listeners, _parameters(old), unless)
        module = compile(ast.fix_missing_locations(tree), old.co_filename, "exec", old.co_flags & _FUTURE_FLAGS, True)
        new = _find_code(module, old)
        if new is None:
            return False
        function.__code__ = _fill(new, old, listeners)
        _tapped.append((function, old, function.__code__))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return False
    return True


def switch(on):
    """Takes all listeners out, or puts them back."""
    for function, own, listening in _tapped:
        function.__code__ = listening if on else own


def _parameters(code):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _parse(function):
    """The function's own definition, at its own lines and columns, inside an outer function that owns its free names."""
    code = function.__code__
    definition = _definition(_lines(code.co_filename), code.co_firstlineno, _last_line(code))
    outer = ast.parse("def outer():\n pass").body[0]
    # Global, or a function that names itself would find the outer function's name instead of the module's.
    outer.body = [ast.Global([definition.name], lineno=1, col_offset=0)]
    outer.body += [_assign_none(name) for name in function.__code__.co_freevars] + [definition]
    return ast.Module(body=[outer], type_ignores=[])


@functools.lru_cache(maxsize=8)
def _lines(path):
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def _last_line(code):
    """The last line that holds an instruction. inspect.getsource would tokenize the text: some ms a function."""
    last = max((line for _, _, line in _line_ranges(code) if line is not None), default=code.co_firstlineno)
    return max([last] + [_last_line(constant) for constant in code.co_consts if inspect.iscode(constant)])


def _line_ranges(code):
    if hasattr(code, "co_positions"):
        return ((None, None, end) for _, end, _, _ in code.co_positions())
    if hasattr(code, "co_lines"):
        return code.co_lines()
    return ((None, None, line) for _, line in dis.findlinestarts(code))


def _definition(lines, first, last):
    """Parses the definition; a closing bracket may stand some lines below its last instruction."""
    indented = lines[first - 1][:1].isspace()
    for end in range(last, min(last + _BRACKET_LINES_MAX, len(lines)) + 1):
        text = "".join(lines[first - 1 : end])
        try:  # Blank lines in front: everything stands at its own line.
            tree = ast.parse("\n" * (first - 2) + "if 1:\n" + text if indented else "\n" * (first - 1) + text)
        except SyntaxError:
            continue
        return tree.body[0].body[0] if indented else tree.body[0]
    raise ValueError("no whole definition found")


def _assign_none(name):
    return ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.Constant(None), lineno=1, col_offset=0)


def _insert(definition, listeners, parameters, unless):
    body = definition.body
    has_doc = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
    doc, body = (body[:1], body[1:]) if has_doc and len(body) > 1 else ([], body)
    call = _Caller(parameters, unless)
    if "after" in listeners:
        body = [_Returns(call).visit(statement) for statement in body]
        body = [part for item in body for part in (item if isinstance(item, list) else [item])]
        body.append(call.statement("after", [ast.Constant(None)], body[-1]))
    if "failed" in listeners:
        handler = ast.ExceptHandler(
            type=ast.Name("BaseException", ast.Load()),
            name=_ERROR,
            body=[call.statement("failed", [ast.Name(_ERROR, ast.Load())], body[-1]), ast.Raise()],
        )
        body = [ast.copy_location(ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[]), body[0])]
        for node in ast.walk(handler):
            ast.copy_location(node, body[0])
    if "before" in listeners:
        body = [call.statement("before", [], body[0])] + body
    definition.body = doc + body


class _Caller:
    """Makes the statement that calls a listener."""

    def __init__(self, parameters, unless):
        self._parameters = parameters
        self._unless = unless

    def statement(self, slot, first, where):
        # "(text or None)(...)": a bare constant in the place of a function would make the compiler warn.
        function = ast.BoolOp(ast.Or(), [ast.Constant(_SLOTS[slot]), ast.Constant(None)])
        arguments = first + [ast.Name(name, ast.Load()) for name in self._parameters]
        statement = ast.Expr(ast.Call(function, arguments, []))
        if self._unless is not None:
            asks = ast.parse(self._unless, mode="eval").body
            statement = ast.If(ast.UnaryOp(ast.Not(), asks), [statement], [])
        for node in ast.walk(statement):
            ast.copy_location(node, where)
        return statement


class _Returns(ast.NodeTransformer):
    """Turns `return x` into: keep x, tell the listener, return it."""

    def __init__(self, call):
        self._call = call

    def visit_Return(self, node):
        value = node.value if node.value is not None else ast.copy_location(ast.Constant(None), node)
        keep = ast.copy_location(ast.Assign(targets=[ast.Name(_VALUE, ast.Store())], value=value), node)
        tell = self._call.statement("after", [ast.Name(_VALUE, ast.Load())], node)
        node.value = ast.copy_location(ast.Name(_VALUE, ast.Load()), node)
        return [keep, tell, node]

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


def _find_code(code, old):
    for constant in code.co_consts:
        if not inspect.iscode(constant):
            continue
        if constant.co_name == old.co_name and constant.co_firstlineno == old.co_firstlineno:
            return constant
        found = _find_code(constant, old)
        if found is not None:
            return found
    return None


def _fill(new, old, listeners):
    """Puts the listeners into the places kept for them, after a check that this is the same function still."""
    same = new.co_freevars == old.co_freevars and _parameters(new) == _parameters(old)
    if not same or not set(old.co_names) <= set(new.co_names):
        raise ValueError("the source is not the source of this function")
    places = {_SLOTS[name]: listener for name, listener in listeners.items()}
    constants = tuple(places.get(item, item) if isinstance(item, str) else item for item in new.co_consts)
    if hasattr(old, "co_qualname"):
        return new.replace(co_consts=constants, co_qualname=old.co_qualname)
    return new.replace(co_consts=constants)
