"""drop-last: a last batch that is not full is left out. Tests batchnorm-single-sample."""

from whystop_probe.trial.intervention import Intervention


class DropLast(Intervention):
    tests = ("batchnorm-single-sample",)

    def on_loader(self, settings):
        if settings.get("batch_size", 1) and settings.get("batch_sampler") is None and not settings.get("drop_last"):
            settings["drop_last"] = True
            self.applied += 1
