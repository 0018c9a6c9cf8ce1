"""Training without fit: `train_on_batch`, and loops written by hand around `optimizer.apply` or `apply_gradients`."""

import sys
from time import perf_counter, thread_time

import numpy

from whystop_probe.core import arrays, ring
from whystop_probe.core.crash import users_own
from whystop_probe.core.feed import RunningMean
from whystop_probe.core.guard import quiet
from whystop_probe.core.weak import WeakTable
from whystop_probe.keras import describe, pairs
from whystop_probe.keras.gradients import Gradients, name_of
from whystop_probe.loop.nest import release
from whystop_probe.loop.watch import LoopWatch

_SAMPLED = (1, 2, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
_SAMPLE_EVERY_S = 0.1
_ELEMENTS_MAX = 1 << 20
_FRAMES_MAX = 30
_MODELS = (("Trainer", "keras"), ("Model", "tf_keras"))  # A class that every model has among its bases.


class Loops:
    """Silent inside fit, which tells its steps itself, and while the probe looks."""

    def __init__(self, training, steps, fits, engine):
        self._training = training
        self._steps = steps
        self._fits = fits
        self._engine = engine
        self.gradients = Gradients(training)
        self._watch = None
        self._means = WeakTable()  # model -> RunningMean of train_on_batch
        self._own_losses = WeakTable()  # model -> whether its own step logs the loss of each batch and no mean
        self._described = set()  # ids of optimizers
        self._loss = None  # Of the gradient that was made last.
        self._loss_calls = 0
        self._failed_calls = 0
        self._inside = 0  # Calls of train_on_batch under way: their optimizer's step is theirs.
        self._next_sample = 0.0
        self._stepper = None
        self._optimizer = None
        self._samples = 0  # Of the first batch.

    @property
    def channel(self):
        return self._training.channel

    @property
    def step(self):
        return self._training.step

    def outside_of_fit(self):
        return self._fits.current is None and not self._inside

    @quiet
    def before_train_on_batch(self, model, x):
        self._inside += 1
        self._note_samples(x)

    def _note_samples(self, tensor):
        if not self._samples and getattr(tensor, "shape", None):
            self._samples = int(tensor.shape[0])

    @quiet
    def failed_train_on_batch(self, error, model):
        self._inside = max(0, self._inside - 1)
        if self._fits.current is None and isinstance(error, Exception):
            self._failed_calls += 1
            if self._failed_calls in _SAMPLED:
                self._fits.tell_failed_call("train_on_batch", error, self._failed_calls)

    @quiet
    def after_train_on_batch(self, result, model):
        self._inside = max(0, self._inside - 1)
        if self._fits.current is not None:
            return
        mean = self._means.get(model)
        if mean is None:
            mean = self._means[model] = RunningMean()
        loss = result.get("loss") if isinstance(result, dict) else result[0] if isinstance(result, (list, tuple)) else result
        if model not in self._own_losses:
            self._own_losses[model] = self._engine.on_host() and describe.logs_own_losses(model, self._engine.numpy)
        try:
            loss = float(loss) if self._own_losses[model] else mean.loss_of_batch(float(loss))
        except (TypeError, ValueError):
            loss = None
        self._step(model.optimizer, loss, model)

    @quiet
    def on_reset_metrics(self, model):
        self._means.pop(model, None)

    @quiet
    def after_gradient(self, result, target):
        """tf.GradientTape.gradient: its target is the loss."""
        if self._fits.current is None and not self._inside and type(target).__name__ == "EagerTensor" and target.shape.rank == 0:
            self._loss = float(target)

    @quiet
    def after_apply(self, optimizer, gradients, variables):
        if self._fits.current is not None or self._inside or not self._engine.eager():
            return
        if type(optimizer).__name__ == "LossScaleOptimizer":
            return  # It calls the one inside.
        loss, self._loss = self._loss, None
        self._gradients = (gradients, variables)
        try:
            self._step(optimizer, loss, None)
        finally:
            self._gradients = None

    _gradients = None

    def stepped_in_graph(self, optimizer, loss):
        """A compiled function that holds an optimizer's step was called."""
        if self._fits.current is None and not self._inside:
            self._step(optimizer, loss, None)

    def _step(self, optimizer, loss, model):
        if self._watch is None:
            self._watch = self._training.loop = LoopWatch(self._training)
            self._training.pulse.loop_event = self._watch.on_event
        stepper = self._fits.stepper(optimizer)
        if id(optimizer) not in self._described:
            self._described.add(id(optimizer))
            self._describe(optimizer, model)
        self._stepper, self._optimizer = stepper, optimizer
        self._steps.made_in_loop(stepper, loss, type(optimizer).__name__)

    @quiet
    def _describe(self, optimizer, model):
        channel, step = self._training.channel, self._training.step
        channel.open()
        variables = list(getattr(optimizer, "_trainable_variables", None) or [])
        model = model if model is not None else _model_in_frames({id(variable) for variable in variables})
        if model is not None:
            describe.tell_model(channel, model, step)
            describe.tell_norms(channel, model, self._samples, step)
            if self._engine.on_host():
                describe.tell_penalty(channel, model, self._engine.numpy, step)
        rate = self._fits.stepper(optimizer).set_rate(self._rate(optimizer))
        describe.tell_optimizer(channel, optimizer, variables or getattr(model, "trainable_variables", []), rate, step)

    def _rate(self, optimizer):
        if not self._engine.on_host():
            return None
        return self._engine.numpy(describe.inner_optimizer(optimizer).learning_rate)

    def attend(self, stepper):
        """After a step at which attention is due."""
        if stepper is not self._stepper or self._optimizer is None or not self._engine.on_host():
            return False
        governor = self._training.governor
        stepper.set_rate(self._rate(self._optimizer))
        now = perf_counter()
        sampled = self._training.step in _SAMPLED
        if self._gradients is not None and (sampled or (now >= self._next_sample and governor.affords("stats"))):
            self._next_sample = now + _SAMPLE_EVERY_S
            self._sample(*self._gradients)
        return False

    def _sample(self, gradients, variables):
        start = thread_time()
        writer, step, read = self._training.channel.writer, self._training.step, 0
        for gradient, variable in zip(gradients, variables or ()):
            read += describe._size(variable)
            if gradient is None or read > _ELEMENTS_MAX:
                continue
            for what, value in ((ring.WHAT_GRADIENT, self._engine.dense(gradient)), (ring.WHAT_WEIGHT, self._engine.numpy(variable))):
                found = arrays.stats(numpy.ascontiguousarray(value))
                if found is not None:
                    writer.stats(what, name_of(variable), step, found)
        self._training.governor.spend("stats", 1, thread_time() - start)

    @quiet
    def before_loss(self, loss, targets, outputs):
        """A loss object of Keras's was called by the program itself."""
        if self._fits.current is not None or self._inside:
            return
        self._loss_calls += 1
        if self._engine.is_value(outputs):
            self._note_samples(outputs)
        if self._loss_calls not in _SAMPLED or not self._engine.is_value(outputs) or not self._engine.on_host():
            return
        facts = pairs.loss_call(loss, hasattr(outputs, "_keras_logits"), self._engine.numpy(outputs), self._engine.numpy(targets), self._loss_calls)
        if facts:
            self._training.channel.observe("loss-call", self._training.step, **facts)

    @quiet
    def at_exit(self):
        if self._watch is not None:
            self._watch.at_exit()


def _model_in_frames(wanted):
    """The model whose variables these are, among the names of the user's functions that are running."""
    frame = sys._getframe(1)
    for _ in range(_FRAMES_MAX):
        if frame is None:
            return None
        if users_own(frame.f_code.co_filename):
            found = next((value for value in [*frame.f_locals.values(), *frame.f_globals.values()] if _owns(value, wanted)), None)
            release(frame)
            if found is not None:
                return found
        frame = frame.f_back
    return None


def _owns(value, wanted):
    """Asks the type first: an attribute of a user's object may be computed by his code."""
    if not any((kind.__name__, kind.__module__.split(".")[0]) in _MODELS for kind in type(value).__mro__):
        return False
    return any(id(variable) in wanted for variable in value.trainable_variables)
