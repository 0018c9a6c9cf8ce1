"""The changes that a trial of a Keras program can make, each at the call of `fit`. Data in arrays only, unless said otherwise."""

import os
import random
import sys

import numpy

from whystop_probe.keras.describe import leaves
from whystop_probe.trial.begin import STATE
from whystop_probe.trial.keras.resume import load_from
from whystop_probe.trial.keras.survey import logits_mistaken, rate_of


class Change:
    name = ""

    def __init__(self, value):
        self.value = value
        self.applied, self.facts = 0, None

    def on_fit(self, model, settings):
        """Changes the model, or the arguments of this call of `fit`, in place."""


class Rate(Change):
    """lr-times=0.1, lr=0.01: a schedule is multiplied, or replaced."""

    def on_fit(self, model, settings):
        optimizer, before = model.optimizer, rate_of(model.optimizer)
        if before is None:
            return
        factor = float(self.value) if self.name == "lr-times" else float(self.value) / before if before else 0.0
        held = optimizer._learning_rate
        if callable(held) and not hasattr(held, "assign"):
            optimizer._learning_rate = _scaled(sys.modules["keras"], held, factor)
        else:
            optimizer.learning_rate = before * factor if before else float(self.value)
        self.facts = f"{before:g} -> {before * factor if before else float(self.value):g}"
        self.applied += 1


def _scaled(keras, schedule, factor):
    class Scaled(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return schedule(step) * factor

        def get_config(self):
            return {}

    return Scaled()


class OneBatch(Change):
    """one-batch=8: the first samples again and again, in as many batches as there were."""

    def on_fit(self, model, settings):
        x, y = settings.get("x"), settings.get("y")
        if isinstance(x, numpy.ndarray) and isinstance(y, numpy.ndarray):
            order = numpy.arange(len(x)) % int(self.value or 8)
            settings["x"], settings["y"] = x[order], y[order]
            self.applied += 1
        elif hasattr(x, "take") and hasattr(x, "repeat"):  # A tf.data set: its first batch.
            settings["x"] = x.take(1).cache().repeat(max(1, int(x.cardinality())))
            self.applied += 1


class PermuteLabels(Change):
    def on_fit(self, model, settings):
        y = settings.get("y")
        if isinstance(y, numpy.ndarray):
            settings["y"] = y[numpy.random.RandomState(0).permutation(len(y))]
            self.applied += 1


class StandardiseInputs(Change):
    def on_fit(self, model, settings):
        x = settings.get("x")
        if isinstance(x, numpy.ndarray) and x.dtype.kind in "fiu" and x.ndim >= 2:
            axes = 0 if x.ndim == 2 else tuple(range(x.ndim - 1))  # Channels come last in Keras.
            values = numpy.nan_to_num(x.astype("float32"))
            spread = values.std(axis=axes)
            settings["x"] = (values - values.mean(axis=axes)) / numpy.where(spread > 0, spread, 1)
            self.applied += 1


class StandardiseTargets(Change):
    def on_fit(self, model, settings):
        y = settings.get("y")
        if isinstance(y, numpy.ndarray) and y.dtype.kind == "f" and y.std() > 0:
            settings["y"] = ((y - y.mean()) / y.std()).astype(y.dtype)
            self.applied += 1


class Seed(Change):
    """seed=1000: whatever seed the program sets is another one."""

    def __init__(self, value):
        super().__init__(value)
        shift = int(value or 1)
        for owner in (random, numpy.random):  # Keras draws its own seeds from them.
            owner.seed = self._other(owner.seed, shift)

    def _other(self, original, shift):
        return lambda seed=None, *rest: original(seed + shift if isinstance(seed, int) else seed, *rest)

    def on_fit(self, model, settings):
        self.applied += 1


class DropoutOff(Change):
    def on_fit(self, model, settings):
        for layer in leaves(model):
            if "Dropout" in type(layer).__name__ and getattr(layer, "rate", 0):
                layer.rate = 0.0
                self.applied += 1


class WeightDecay(Change):
    """weight-decay=0: the optimizer's, and the penalties of layers."""

    def on_fit(self, model, settings):
        if getattr(model.optimizer, "weight_decay", None):
            model.optimizer.weight_decay = None
            self.applied += 1
        for layer in leaves(model):
            for name in ("kernel_regularizer", "bias_regularizer", "activity_regularizer"):
                if getattr(layer, name, None) is not None:
                    setattr(layer, name, None)
                    self.applied += 1
            for variable in layer.weights:
                if getattr(variable, "regularizer", None) is not None:
                    variable.regularizer = None


class Unfreeze(Change):
    def on_fit(self, model, settings):
        frozen = [layer for layer in leaves(model) if layer.weights and not layer.trainable]
        for layer in frozen:
            layer.trainable = True
        if frozen and not model.optimizer.built:
            self.applied += len(frozen)


class UndoSoftmax(Change):
    """undo-softmax: the loss takes the outputs for what they are."""

    def on_fit(self, model, settings):
        if not logits_mistaken(model):
            return
        last, activations = model.layers[-1], sys.modules["keras"].activations
        if getattr(getattr(last, "activation", None), "__name__", "") in ("softmax", "sigmoid"):
            last.activation = activations.linear
            self.applied += 1
        elif hasattr(last, "activation"):
            classes = last.units if hasattr(last, "units") else 2
            last.activation = activations.softmax if classes > 1 else activations.sigmoid
            self.applied += 1


class Patience(Change):
    """patience=10: of every callback that stops, not of those that lower the rate."""

    def on_fit(self, model, settings):
        for callback in settings.get("callbacks") or []:
            if "EarlyStopping" in type(callback).__name__ and hasattr(callback, "patience"):
                before = callback.patience
                callback.patience = max(50, int(before * float(self.value or 10)))
                self.facts = f"patience {before} -> {callback.patience}"
                self.applied += 1


class Shuffle(Change):
    def on_fit(self, model, settings):
        if settings.get("shuffle", True) is False:
            settings["shuffle"] = True
            self.applied += 1


class BatchTimes(Change):
    def on_fit(self, model, settings):
        if isinstance(settings.get("x"), numpy.ndarray):
            settings["batch_size"] = max(1, round((settings.get("batch_size") or 32) * float(self.value)))
            self.applied += 1


class Continue(Change):
    def on_fit(self, model, settings):
        self.applied += load_from(os.environ[STATE], model)


_TABLE = {
    "batch-times": BatchTimes, "continue": Continue, "dropout-off": DropoutOff, "lr": Rate, "lr-times": Rate, "one-batch": OneBatch,
    "patience": Patience, "permute-labels": PermuteLabels, "seed": Seed, "shuffle": Shuffle, "standardise-inputs": StandardiseInputs,
    "standardise-targets": StandardiseTargets, "undo-softmax": UndoSoftmax, "unfreeze": Unfreeze, "weight-decay": WeightDecay,
}  # fmt: skip


def make(name, value):
    made = _TABLE.get(name, Change)(value)  # What is not for Keras changes nothing, and says so.
    made.name = name
    return made
