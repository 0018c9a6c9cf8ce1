"""Values for living objects, by identity. Where one dies no Python of ours runs, as it does in the classes of `weakref`: an interrupt or
another handler's exception that came just then would be swallowed, and a Ctrl-C lost."""

from collections import deque
from weakref import KeyedRef


class WeakTable:
    """A dictionary, or by `add` a set, whose keys need neither hash nor equality."""

    def __init__(self):
        self._items = {}  # id -> (reference, value)
        self._gone = deque()  # References to what died, put there by C alone.

    def _sweep(self):
        try:
            while self._gone:
                reference = self._gone.popleft()
                if self._items.get(reference.key, (None,))[0] is reference:
                    self._items.pop(reference.key, None)
        except IndexError:
            pass  # Another thread was sweeping too.

    def __setitem__(self, owner, value):
        self._sweep()
        found = self._items.get(id(owner))
        reference = found[0] if found is not None and found[0]() is owner else KeyedRef(owner, self._gone.append, id(owner))
        self._items[id(owner)] = (reference, value)

    def __getitem__(self, owner):
        reference, value = self._items[id(owner)]
        if reference() is not owner:  # Another one lay there.
            raise KeyError(owner)
        return value

    def get(self, owner, otherwise=None):
        reference, value = self._items.get(id(owner), (None, otherwise))
        return value if reference is not None and reference() is owner else otherwise

    def add(self, owner):
        self[owner] = True

    def pop(self, owner, otherwise=None):
        value = self.get(owner, otherwise)
        if owner in self:
            self._items.pop(id(owner), None)
        return value

    def clear(self):
        self._items.clear()

    def __contains__(self, owner):
        reference, _ = self._items.get(id(owner), (None, None))
        return reference is not None and reference() is owner

    def __iter__(self):
        living = [reference() for reference, _ in list(self._items.values())]
        return iter([owner for owner in living if owner is not None])

    def __len__(self):
        self._sweep()
        return len(self._items)
