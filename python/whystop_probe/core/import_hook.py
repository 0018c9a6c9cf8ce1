"""Runs a function after (and optionally before) a named module is imported, and leaves no trace on it."""

import sys

from whystop_probe.core.guard import quiet


class _Finder:
    """First on sys.meta_path. For the few names it waits for, it asks the other finders and wraps what they find."""

    def __init__(self, table):
        self._table = dict(table)  # module name -> (before, after)
        self._asking = set()  # Names that the other finders are being asked for.

    def find_spec(self, name, path=None, target=None):
        """Also called by those who only want to know whether a module is there: it is waited for until it is really imported."""
        if name not in self._table or name in self._asking:
            return None
        self._asking.add(name)
        try:
            spec = _find_elsewhere(self, name, path, target)
        finally:
            self._asking.discard(name)
        return spec if spec is not None and _wrap(spec, lambda: self._table.pop(name, (None, None))) else None


def _find_elsewhere(finder, name, path, target):
    for other in list(sys.meta_path):
        find = getattr(other, "find_spec", None)
        if other is finder or find is None:
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec
    return None


def _wrap(spec, take_actions):
    """The loader belongs to this one module: an attribute on it shadows exec_module for the one call."""
    loader = spec.loader
    original = getattr(loader, "exec_module", None)
    if original is None:
        return False

    def exec_module(module):
        try:
            del loader.exec_module
        except AttributeError:
            pass
        before, after = take_actions()
        _call(before, module)
        original(module)
        _call(after, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        return False
    return True


def _call(action, module):
    """The import must succeed or fail by its own merits."""
    if action is not None:
        quiet(action)(module)


def install(table):
    sys.meta_path.insert(0, _Finder(table))
