"""Evaluation and saving, as PyTorch programs ask for them."""

from whystop_probe.core.guard import quiet
from whystop_probe.core.phases import Phases


class TorchPhases:
    """Listens to Module.eval() and torch.save()."""

    def __init__(self, training):
        self._phases = Phases(training)
        self._before_save = None

    @quiet
    def on_eval(self, module):
        if module._modules:  # A single layer that is put to sleep is no evaluation.
            self._phases.evaluate()

    @quiet
    def before_save(self, *arguments):
        self._before_save = self._phases.save()

    @quiet
    def after_save(self, *arguments):
        before, self._before_save = self._before_save, None
        self._phases.go_back(before)
