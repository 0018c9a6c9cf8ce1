"""Weights that were loaded into a model by name or with mismatches skipped, and those that were not: Keras says little of it, or nothing."""

import sys

from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text

_TOLD_MAX = 8


class Loading:
    """While weights are being loaded, every variable that is given a value is noted."""

    def __init__(self, training, variable):
        self._training = training
        self._variable = variable  # The class whose `assign` all loading ends in.
        self._own = None  # That function, while ours stands in its place.
        self._assigned = set()
        self._told = 0

    @quiet
    def before(self, lenient):
        """`lenient`: a weight that does not fit is left out. Else Keras raises by itself, and its traceback shall be its own."""
        if not lenient or self._own is not None or self._told >= _TOLD_MAX:
            return
        self._own, self._assigned = self._variable.assign, set()
        own, assigned = self._own, self._assigned

        def assign(variable, *values, **options):
            result = own(variable, *values, **options)
            assigned.add(id(variable))
            return result

        self._variable.assign = assign

    @quiet
    def after(self, model, path):
        if not self._restore():
            return
        missing = [variable for variable in model.weights if id(variable) not in self._assigned]
        if not missing:
            return
        self._told += 1
        self._training.channel.observe(
            "weights-loaded",
            self._training.step,
            module=type(model).__name__,
            given=_tensors_in(path),
            taken=len(model.weights) - len(missing),
            missing=len(missing),
            missing_names=names_text([getattr(variable, "path", variable.name) for variable in missing][:3]),
        )

    @quiet
    def failed(self):
        self._restore()

    def _restore(self):
        own, self._own = self._own, None
        if own is not None:
            self._variable.assign = own
        return own is not None


def _tensors_in(path):
    """How many the file holds, but those of an optimizer; None where it is of another format."""
    h5py, found = sys.modules.get("h5py"), []

    def visit(name, item):
        if hasattr(item, "shape") and not name.startswith("optimizer"):
            found.append(name)

    try:
        with h5py.File(str(path), "r") as file:
            file.visititems(visit)
    except (AttributeError, OSError):
        return None
    return len(found)
