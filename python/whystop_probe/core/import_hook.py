"""Runs a function after (and optionally before) a named module is imported, and leaves no trace on it."""

import sys

from whystop_probe.core.guard import quiet


class _Finder:
    """First on sys.meta_path. For the few names it waits for, it asks the other finders and wraps what they find."""

    def __init__(self, table):
        self._table = dict(table)  # module name -> (before, after)

    def find_spec(self, name, path=None, target=None):
        if name not in self._table:
            return None
        actions = self._table.pop(name)
        spec = _find_elsewhere(self, name, path, target)
        if spec is None:
            self._table[name] = actions
            return None
        if not _wrap(spec, *actions):
            return None
        return spec


def _find_elsewhere(finder, name, path, target):
    for other in list(sys.meta_path):
        find = getattr(other, "find_spec", None)
        if other is finder or find is None:
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec
    return None


def _wrap(spec, before, after):
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
