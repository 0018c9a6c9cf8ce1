"""Puts the observers in place once Keras has been imported."""

import inspect
import os
import sys

from whystop_probe.core import session
from whystop_probe.core.guard import quiet
from whystop_probe.core.tap import tap
from whystop_probe.keras.engines import engine_of
from whystop_probe.keras.fit import Fits
from whystop_probe.keras.loading import Loading
from whystop_probe.keras.looks import Looks
from whystop_probe.keras.loops import Loops
from whystop_probe.keras.masks import Masks
from whystop_probe.keras.steps import Steps
from whystop_probe.keras.stop import StopTraining

_BACKEND_OF = {"tensorflow": "TensorFlowTrainer", "torch": "TorchTrainer", "jax": "JAXTrainer"}


class Observers:
    """One a family of Keras: Keras 3, and tf-keras 2, which a program may use both."""

    def __init__(self, name, versions, engine, reads_late=False):
        self.training = training = session.begin()
        session.describe_process(training.channel, {**versions, **engine.versions()})
        self.steps = Steps(training, session.tell_totals)
        self.masks = Masks()
        self.fits = Fits(training, lambda fit: Looks(training, engine, fit, self.masks), name, reads_late)
        self.loops = Loops(training, self.steps, self.fits, engine)
        self.steps.never_cleared = lambda: self.loops.gradients.never_cleared
        self.steps.attend = self._attend
        self.steps.nonfinite = self._nonfinite
        training.tell_end = self._tell_end

    def _attend(self, stepper):
        fit = self.fits.current
        if fit is None:
            return self.loops.attend(stepper)
        return fit.looks is not None and fit.looks.attend()

    def _nonfinite(self, value):
        fit = self.fits.current
        if fit is not None and fit.looks is not None:
            fit.looks.on_nonfinite(value)

    @quiet
    def _tell_end(self):
        for _ in range(self.fits.depth):
            self.fits.after(None)  # The process ends inside fit: sys.exit() in a callback. Should this fail, it ends all the same.
        self.loops.at_exit()
        session.tell_totals(self.training)


def install(module):
    """Called after `keras.src.backend.<backend>.trainer` was imported."""
    backend = module.__name__.split(".")[-2]
    trainer = getattr(module, _BACKEND_OF[backend])
    version = getattr(sys.modules.get("keras.src.version"), "__version__", None)
    observers = Observers("keras", {"keras": version, "backend": backend}, engine_of(backend))
    fits = observers.fits
    base = sys.modules["keras.src.trainers.trainer"].Trainer
    base.stop_training = StopTraining(fits.told_stop, None)
    attach_fit(fits, trainer.fit)
    if os.environ.get("WHYSTOP_TRIAL"):  # One thing is changed on purpose: `whystop try`.
        from whystop_probe.trial.keras.begin import begin

        begin(trainer, observers.training, observers._tell_end)

    def attach_rest():
        tap(sys.modules["keras.src.utils.python_utils"].pythonify_logs, after=fits.feeds.logs_read)
        epochs = sys.modules["keras.src.trainers.epoch_iterator"].EpochIterator
        tap(epochs.__init__, after=lambda result, iterator, *rest: fits.data_made(iterator))

    fits.on_first = lambda: attach_callbacks(fits, sys.modules["keras.src.callbacks.callback_list"].CallbackList, attach_rest)
    observers.masks.attach()
    attach_loading(Loading(observers.training, sys.modules["keras.src.backend.common.variables"].Variable))
    attach_calls(observers.loops, trainer.train_on_batch, base.reset_metrics, sys.modules["keras.src.losses.loss"].Loss)
    attach_steps(observers.loops, sys.modules["keras.src.optimizers.base_optimizer"].BaseOptimizer.apply, backend, _as_given)


def install_legacy(module):
    """Called after `tf_keras.src.engine.training` was imported, or its forerunners."""
    package = module.__name__[: -len(".engine.training")]
    version = getattr(sys.modules.get(package.split(".")[0]), "__version__", None)
    engine = engine_of("tensorflow")
    observers = Observers("tf-keras", {"keras": version, "backend": "tensorflow"}, engine, reads_late=True)
    fits, model = observers.fits, module.Model
    model.stop_training = StopTraining(fits.told_stop, None)
    attach_fit(fits, model.fit)
    fits.on_first = lambda: attach_callbacks(fits, sys.modules[f"{package}.callbacks"].CallbackList, lambda: None)
    attach_calls(observers.loops, model.train_on_batch, model.reset_metrics, sys.modules[f"{package}.losses"].Loss)
    attach_steps(observers.loops, sys.modules[f"{package}.optimizers.optimizer"]._BaseOptimizer.apply_gradients, "tensorflow", _from_pairs)


def _as_given(gradients, variables=None):
    return gradients, variables


def _from_pairs(pairs, *rest):
    return tuple(zip(*pairs)) if isinstance(pairs, list) and pairs else ((), ())


def attach_fit(fits, function):
    names = parameters_of(function)[1:]
    tap(
        function,
        before=lambda model, *arguments: fits.before(model, dict(zip(names, arguments))),
        after=lambda result, model, *rest: fits.after(model),
        failed=lambda error, model, *rest: fits.failed(error, model),
    )


def attach_loading(loading):
    tap(
        sys.modules["keras.src.saving.saving_api"].load_weights,
        before=lambda model, path, skip_mismatch, options: loading.before(skip_mismatch or options.get("by_name")),
        after=lambda result, model, path, *rest: loading.after(model, path),
        failed=lambda error, *rest: loading.failed(),
    )


def attach_calls(loops, train_on_batch, reset_metrics, losses):
    tap(
        train_on_batch,
        before=lambda model, x, *rest: loops.before_train_on_batch(model, x),
        after=lambda result, model, *rest: loops.after_train_on_batch(result, model),
        failed=lambda error, model, *rest: loops.failed_train_on_batch(error, model),
    )
    tap(reset_metrics, before=loops.on_reset_metrics)
    tap(losses.__call__, before=lambda loss, targets, outputs, *rest: loops.before_loss(loss, targets, outputs))


def attach_steps(loops, apply, backend, unpack):
    if backend == "tensorflow":
        from whystop_probe.tensorflow import loops as tensorflow_loops

        tensorflow_loops.attach(loops, apply, unpack)
    else:
        tap(
            apply,
            before=lambda optimizer, *given: loops.gradients.given(optimizer, *unpack(*given)),
            after=lambda result, optimizer, *given: loops.after_apply(optimizer, *unpack(*given)),
        )


def attach_callbacks(fits, callback_list, rest):
    """What only a training run needs, at its first fit: a millisecond or two a function."""
    failed = lambda error, callbacks, *rest: fits.callback_failed(error, callbacks)  # noqa: E731
    tap(callback_list.on_train_begin, before=lambda callbacks, *rest: fits.train_begin(callbacks), failed=failed)
    tap(callback_list.on_epoch_begin, before=lambda callbacks, epoch, *rest: fits.epoch_begin(callbacks, epoch), failed=failed)
    tap(callback_list.on_epoch_end, before=lambda callbacks, epoch, logs=None: fits.epoch_end(callbacks, epoch, logs), failed=failed)
    tap(callback_list.on_train_batch_begin, before=fits.batch_begin, failed=failed)
    tap(callback_list.on_train_batch_end, before=fits.feeds.batch_end, failed=failed)
    tap(callback_list.on_test_begin, before=lambda callbacks, *rest: fits.phases.evaluate(), failed=failed)
    if hasattr(callback_list, "_on_train_batch_end"):
        tap(callback_list._on_train_batch_end, failed=failed)
    tap(callback_list.on_train_end, before=lambda callbacks, *rest: fits.train_end(callbacks), failed=failed)
    rest()


def parameters_of(function):
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
