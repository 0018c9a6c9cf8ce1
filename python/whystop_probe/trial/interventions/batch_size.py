"""batch-times=4: loaders give batches of another size. Tests bn-small-batch."""

from whystop_probe.trial.intervention import Intervention


class BatchTimes(Intervention):
    tests = ("bn-small-batch",)

    def on_loader(self, settings):
        size = settings.get("batch_size", 1)
        if size and settings.get("batch_sampler") is None:
            settings["batch_size"] = max(1, round(size * float(self.value)))
            self.applied += 1
