"""Weights that were loaded into a model, and those that were not."""

from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text

_TOLD_MAX = 8


class Loading:
    """Told of every `load_state_dict` of a module that left something out, as only one that is not strict does."""

    def __init__(self, training):
        self._training = training
        self._told = 0

    @quiet
    def on_loaded(self, result, module, state_dict, *rest):
        missing, unexpected = list(result.missing_keys), list(result.unexpected_keys)
        if not (missing and unexpected) or self._told >= _TOLD_MAX:
            return
        self._told += 1
        self._training.channel.observe(
            "weights-loaded",
            self._training.step,
            module=type(module).__name__,
            given=len(state_dict),
            taken=len(state_dict) - len(unexpected),
            missing=len(missing),
            unexpected_names=names_text(unexpected[:3]),
            missing_names=names_text(missing[:3]),
        )
