"""Hugging Face Trainer: its plan, its logs, and who stopped it."""

from whystop_probe.core.metrics import tell
from whystop_probe.frameworks.observer import observe
from whystop_probe.core.guard import quiet


def install(module):
    """Called after `transformers.trainer_callback` was imported."""
    handler = module.CallbackHandler

    def taps(trainer):
        return [
            (handler.on_train_begin, trainer.begin, None),
            (handler.on_epoch_begin, trainer.progress, None),
            (handler.on_log, trainer.log, None),
            (handler.on_train_end, trainer.end, None),
        ]

    observe(module.TrainerControl, "should_training_stop", "transformers", _Trainer, taps)


class _Trainer:
    def __init__(self, training):
        self._training = training

    @quiet
    def begin(self, handler, arguments, state, *rest):
        self._training.channel.observe(
            "framework",
            self._training.step,
            name="transformers",
            epochs=state.num_train_epochs,
            steps=state.max_steps,
            epochs_asked=arguments.num_train_epochs,
            steps_asked=arguments.max_steps,
            callbacks=",".join(type(callback).__name__ for callback in handler.callbacks),
            batch_size=arguments.per_device_train_batch_size,
            accumulate=arguments.gradient_accumulation_steps,
            nan_filter=bool(arguments.logging_nan_inf_filter),
            fp16=bool(arguments.fp16),
            bf16=bool(arguments.bf16),
            start_step=state.global_step,
        )

    @quiet
    def progress(self, handler, arguments, state, *rest):
        epoch = None if state.epoch is None else float(state.epoch)
        self._training.channel.writer.progress(epoch, float(state.num_train_epochs), int(state.global_step), int(state.max_steps))

    @quiet
    def log(self, handler, arguments, state, control, logs, *rest):
        named = {f"hf/{name}" if name in ("loss", "grad_norm", "learning_rate") else name: value for name, value in logs.items()}
        tell(self._training, int(state.global_step), named, skip=("epoch",))
        self.progress(handler, arguments, state)

    @quiet
    def end(self, handler, arguments, state, control, *rest):
        self._training.channel.observe(
            "framework-end",
            self._training.step,
            name="transformers",
            epoch=state.epoch,
            epochs=state.num_train_epochs,
            global_step=state.global_step,
            steps=state.max_steps,
            best_metric=state.best_metric if isinstance(state.best_metric, (int, float)) else None,
            stop_flag=bool(control.should_training_stop),
        )
