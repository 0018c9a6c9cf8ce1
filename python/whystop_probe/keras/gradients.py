"""Whether every variable that an optimizer is given gets a gradient, and one that was made for it."""

from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text

_GROWN_MIN = 20  # Steps in a row.
_LOOKS_MAX = 64  # Calls of tapes, and of optimizers: who belongs to whom shows early.


class Gradients:
    """Told while a step is made, or while it is traced: in a graph that is the one time that Python sees it."""

    def __init__(self, training):
        self._training = training
        self._seen = set()  # ids of the optimizers that were told of.
        self._sources = {}  # Of all gradients: identity -> name.
        self._receivers = {}
        self._tapes = self._steps = 0  # That were looked at.
        self._mixed_up = False
        self._grown = _Grown()

    @property
    def never_cleared(self):
        """Whether a backend adds gradients up, and nobody has taken away those of the step before."""
        return self._grown.always

    @quiet
    def made(self, sources):
        """A tape made gradients by these."""
        if self._tapes < _LOOKS_MAX:
            self._tapes += 1
            self._sources.update((_identity(variable), name_of(variable)) for variable in _flat(sources) if hasattr(variable, "assign"))

    @quiet
    def given(self, optimizer, gradients, variables):
        """An optimizer was given these gradients for these variables; those that are None it leaves out."""
        if self._steps >= _LOOKS_MAX or type(optimizer).__name__ == "LossScaleOptimizer":  # That one calls the one inside.
            return
        self._steps += 1
        variables = getattr(optimizer, "_trainable_variables", ()) if variables is None else variables
        if not gradients or not isinstance(variables, (list, tuple)):
            return  # An iterator: who looks at it takes from it.
        self._grown.look(next((gradient for gradient in gradients if gradient is not None), None))
        if id(optimizer) not in self._seen:
            self._seen.add(id(optimizer))
            self._tell_absent(gradients, variables)
        if self._sources and not self._mixed_up:
            self._receivers.update((_identity(variable), name_of(variable)) for variable in variables)
            self._tell_mixed_up()

    def _tell_absent(self, gradients, variables):
        channel, step = self._training.channel, self._training.step
        without = [name_of(variable) for gradient, variable in zip(gradients, variables) if gradient is None]
        channel.observe("gradients-present", step, steps=1, tensors=len(gradients), without=len(without), frozen=0)
        if without:
            channel.observe("parameter-without-gradient", step, steps=1, count=len(without), of=len(gradients), names=names_text(without))

    def _tell_mixed_up(self):
        """Gradients by variables that no optimizer was given, and optimizers of variables that no gradient was made by."""
        left = [name for key, name in self._sources.items() if key not in self._receivers]
        others = [name for key, name in self._receivers.items() if key not in self._sources]
        if left and others:
            self._mixed_up = True
            self._training.channel.observe(
                "parameter-not-in-optimizer", self._training.step, steps=0, count=len(left), names=names_text(left), applied_to=names_text(others)
            )


class _Grown:
    """Follows one gradient by its place and by how often it was written to: once a step is the sum of all steps, twice was cleared
    before, and one that is made anew begins at its beginning. Only tensors that are written to count that."""

    def __init__(self):
        self._then = None  # (place, times written to)
        self._times = self._others = 0

    @property
    def always(self):
        return self._times >= _GROWN_MIN and self._others == 0

    def look(self, gradient):
        version = getattr(gradient, "_version", None)
        if type(version) is not int or not hasattr(gradient, "data_ptr"):
            return
        then, self._then = self._then, (gradient.data_ptr(), version)
        if then == (self._then[0], version - 1):
            self._times += 1
        elif then is not None:
            self._others += 1


def name_of(variable):
    return getattr(variable, "path", None) or str(getattr(variable, "name", "variable"))


def _identity(variable):
    """A variable of Keras 3 wraps one of the backend's, and programs use either."""
    return id(getattr(variable, "_value", variable))


def _flat(sources):
    """What may be differentiated by: one variable, or lists and tables of them."""
    if isinstance(sources, dict):
        sources = list(sources.values())
    if not isinstance(sources, (list, tuple)):
        return [sources]
    return [variable for source in sources for variable in _flat(source)]
