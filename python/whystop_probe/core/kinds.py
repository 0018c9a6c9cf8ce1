"""Values of frameworks' own kinds, as the frameworks themselves explain them. Nothing here knows one by name."""

_NUMBERS = (int, float, bool)
PLAIN = (*_NUMBERS, str, type(None))


class Kinds:
    """What one framework says. Of a value that is not its own it says None; no answer runs the user's code or waits for a device."""

    packages = ()  # Objects of these are no objects of the user's.

    def number(self, value):
        """The number in a tensor that holds one."""

    def length(self, value):
        """How many turns a loop over the value would make."""

    def is_loader(self, value):
        """Whether it gives batches, and its end is an event of its own."""
        return False


_known = []


def register(kinds):
    _known.append(kinds)


def plain(value):
    """Numbers as they are; tensors and numpy scalars with one element in host memory as numbers."""
    if isinstance(value, PLAIN):
        return value
    if type(value).__module__ == "numpy":
        return value.item() if getattr(value, "ndim", 1) == 0 else value
    found = _first("number", value)
    return value if found is None else found


def length(value):
    return _first("length", value)


def is_loader(value):
    return any(kinds.is_loader(value) for kinds in _known)


def is_foreign(value):
    """Whether its class is one of a framework's, or of Python's own."""
    package = type(value).__module__
    return package in ("builtins", "numpy") or any(package in kinds.packages for kinds in _known)


def _first(question, value):
    return next((found for found in (getattr(kinds, question)(value) for kinds in _known) if found is not None), None)
