"""Lightning: its plan, its epochs, its metrics, and who stopped it."""

import sys

from whystop_probe.core.metrics import tell
from whystop_probe.frameworks.observer import observe
from whystop_probe.core.guard import quiet


def install(module):
    """Called after `lightning.pytorch.trainer.trainer` (or the older package's) was imported."""
    package = module.__name__.split(".trainer.trainer")[0]
    loop_module = sys.modules.get(f"{package}.loops.fit_loop")
    if loop_module is None:
        return
    loop = loop_module._FitLoop

    def taps(fit):
        return [
            (loop.on_run_start, fit.begin, None),
            (loop.on_advance_start, fit.progress, None),
            (loop.on_advance_end, None, fit.epoch_end),
            (loop.on_run_end, fit.end, None),
        ]

    observe(module.Trainer, "should_stop", "lightning", _Fit, taps)


class _Fit:
    def __init__(self, training):
        self._training = training

    @quiet
    def begin(self, loop):
        trainer = loop.trainer
        self._training.channel.observe(
            "framework",
            self._training.step,
            name="lightning",
            epochs=_limit(loop.max_epochs),
            steps=_limit(loop.max_steps),
            batches=_limit(trainer.num_training_batches),
            callbacks=",".join(type(callback).__name__ for callback in trainer.callbacks),
            precision=str(trainer.precision),
            accumulate=trainer.accumulate_grad_batches,
            fast_dev_run=bool(trainer.fast_dev_run),
            limit_train_batches=trainer.limit_train_batches,
            overfit_batches=trainer.overfit_batches,
            start_epoch=trainer.current_epoch,
            start_step=trainer.global_step,
        )

    @quiet
    def progress(self, loop):
        steps = _limit(loop.max_steps)
        self._training.channel.writer.progress(float(loop.trainer.current_epoch + 1), _limit(loop.max_epochs), loop.trainer.global_step, None if steps is None else int(steps))

    @quiet
    def epoch_end(self, result, loop):
        tell(self._training, self._training.step, loop.trainer.callback_metrics)

    @quiet
    def end(self, loop):
        trainer = loop.trainer
        self._training.channel.observe(
            "framework-end",
            self._training.step,
            name="lightning",
            epoch=trainer.current_epoch,
            epochs=_limit(loop.max_epochs),
            global_step=trainer.global_step,
            steps=_limit(loop.max_steps),
            stop_flag=bool(trainer.should_stop),
        )


def _limit(value):
    """None where there is no limit: Lightning writes -1, None or infinity."""
    if value is None or value == float("inf") or value < 0:
        return None
    return float(value)
