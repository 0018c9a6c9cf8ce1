"""What the source says about a function's loops: how far they mean to go and by which statements they can be left."""

import ast
import linecache

_SOURCE_LINES_MAX = 20000
_TEXT_MAX = 200
_EXIT_CALLS = frozenset(["exit", "quit", "sys.exit", "os._exit", "sys.quit"])


class Exit:
    """A statement that leaves a loop, with the conditions it stands under, outermost first."""

    def __init__(self, node, how, conditions, loop):
        self.line = node.lineno
        self.how = how  # "break", "return", "raise", "exit"
        self.conditions = conditions  # [(expression or None, text)]
        self.loop = loop  # The innermost loop around it; a return or exit leaves all of them.

    def expressions(self):
        return [expression for expression, _ in self.conditions if expression is not None]

    def text(self):
        return " and ".join(text for _, text in self.conditions)[:_TEXT_MAX]


class Loop:
    """A `for` or `while` of one code object. Lines are those of the file."""

    def __init__(self, node, parent):
        self.node = node
        self.parent = parent
        self.line = node.lineno
        self.body_first = node.body[0].lineno
        self.body_last = node.body[-1].end_lineno
        self.last = node.end_lineno  # With the `else` part.
        self.kind = "while" if isinstance(node, ast.While) else "for"
        self.exits = []  # Of this loop and, where they leave it too, of loops inside it.
        self.handlers = []  # (first line of the handler's body, line of `except`, its type as text)
        self.flags = {}  # name -> (line, condition text): where a variable is set to True inside the loop

    def holds(self, line):
        return self.body_first <= line <= self.body_last or line == self.line

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth()


def _tree_of(path):
    """The syntax tree of a file; None where its source is not at hand, or is too long to read beside training."""
    lines = linecache.getlines(path)
    if not lines or len(lines) > _SOURCE_LINES_MAX:
        return None
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None


def loops_of(code):
    """The loops of a code object in source order; [] where there are none or the source is not at hand."""
    tree = _tree_of(code.co_filename)
    owner = _owner(tree, code) if tree is not None else None
    if owner is None:
        return []
    found = []
    _collect(owner.body, None, [], found)
    return found


def exits_in_helpers(path, own_codes):
    """Statements in functions of a file that end the process without an error status; functions that hold one of `own_codes` are not asked."""
    tree = _tree_of(path)
    if tree is None:
        return []
    own = [_owner(tree, code) for code in own_codes if code.co_filename == path]
    found = []
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function not in own:
            found += [Exit(node, "exit", [], None) for node in ast.walk(function) if _how(node) == "exit" and _leaves_in_order(node.value)]
    return found


def _leaves_in_order(call):
    """A text or a number other than 0 is an error status; what is computed may be either."""
    return not call.args or not isinstance(call.args[0], ast.Constant) or call.args[0].value in (0, None)


def _owner(tree, code):
    if code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            if first == code.co_firstlineno:
                return node
    return None


def _collect(statements, loop, conditions, found):
    """Walks statements of one code object; nested functions and classes are other code objects."""
    for node in statements:
        _collect_one(node, loop, conditions, found)


def _collect_one(node, loop, conditions, found):
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        inner = Loop(node, loop)
        found.append(inner)
        _collect(node.body, inner, conditions, found)
        _collect(node.orelse, loop, conditions, found)
    elif isinstance(node, ast.If):
        text = _text(node.test)
        _collect(node.body, loop, conditions + [(node.test, text)], found)
        negation = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        _collect(node.orelse, loop, conditions + [(negation, f"not ({text})")], found)
    elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        _collect_try(node, loop, conditions, found)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        _collect(node.body, loop, conditions, found)
    elif type(node).__name__ == "Match":
        for case in node.cases:
            _collect(case.body, loop, conditions, found)
    elif loop is not None:
        _collect_leaf(node, loop, conditions)


def _collect_try(node, loop, conditions, found):
    _collect(node.body, loop, conditions, found)
    for handler in node.handlers:
        caught = _text(handler.type) if handler.type is not None else "any exception"
        around = loop
        while around is not None:
            around.handlers.append((handler.body[0].lineno, handler.lineno, caught))
            around = around.parent
        _collect(handler.body, loop, conditions + [(None, f"except {caught}")], found)
    _collect(node.orelse, loop, conditions, found)
    _collect(node.finalbody, loop, conditions, found)


def _collect_leaf(node, loop, conditions):
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is True:
        for target in node.targets:
            text = " and ".join(item for _, item in conditions)[:_TEXT_MAX]
            loop.flags[_text(target)] = (node.lineno, text)
            if loop.parent is not None:
                loop.parent.flags[_text(target)] = (node.lineno, text)
    how = _how(node)
    if how is None:
        return
    leaving = Exit(node, how, conditions, loop)
    loop.exits.append(leaving)
    around = loop.parent
    while around is not None and how != "break":
        around.exits.append(leaving)
        around = around.parent


def _how(node):
    if isinstance(node, ast.Break):
        return "break"
    if isinstance(node, ast.Return):
        return "return"
    if isinstance(node, ast.Raise):
        return "raise"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _text(node.value.func) in _EXIT_CALLS:
        return "exit"
    return None


def _text(node):
    try:
        return ast.unparse(node)[:_TEXT_MAX]
    except Exception:
        return ""


def conditions_at(code, line):
    """The conditions under which a line of this code stands, outermost first: [(expression, text)]."""
    lines = linecache.getlines(code.co_filename)
    if not lines or len(lines) > _SOURCE_LINES_MAX:
        return []
    try:
        owner = _owner(ast.parse("".join(lines)), code)
    except (SyntaxError, ValueError):
        return []
    found, statements = [], owner.body if owner is not None else []
    while statements:
        node = next((node for node in statements if node.lineno <= line <= node.end_lineno), None)
        if node is None:
            break
        parts = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        parts += [handler.body for handler in getattr(node, "handlers", [])]
        inside = next((part for part in parts if part and part[0].lineno <= line <= part[-1].end_lineno), [])
        if isinstance(node, ast.If) and inside:
            taken = node.test if inside is node.body else ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
            found.append((taken, _text(taken)))
        statements = inside
    return found
