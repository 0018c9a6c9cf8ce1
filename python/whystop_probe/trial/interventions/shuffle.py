"""shuffle: the first loader draws its samples in random order. Tests order-not-shuffled."""

from whystop_probe.trial.intervention import Intervention


class Shuffle(Intervention):
    tests = ("order-not-shuffled",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._loaders = 0

    def on_loader(self, settings):
        self._loaders += 1
        free = settings.get("sampler") is None and settings.get("batch_sampler") is None and not settings.get("shuffle")
        if self._loaders == 1 and free and hasattr(settings.get("dataset"), "__getitem__"):
            settings["shuffle"] = True
            self.applied += 1
