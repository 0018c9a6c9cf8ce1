"""no-workers: loaders load in the program itself, so that an error of a worker shows where it happens."""

from whystop_probe.trial.intervention import Intervention

_ONLY_WITH_WORKERS = ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context")


class NoWorkers(Intervention):
    tests = ("dataloader-worker-exception", "dataloader-worker-killed", "dataloader-deadlock", "shm-exhausted")

    def on_loader(self, settings):
        if settings.get("num_workers"):
            settings["num_workers"] = 0
            for name in _ONLY_WITH_WORKERS:
                settings.pop(name, None)
            self.applied += 1
