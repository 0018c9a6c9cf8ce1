"""Computes a small batch once more beside the training: outputs, loss, gradients, activations. Changes nothing."""

import sys

from whystop_probe.keras import describe, pairs

_RECTIFIERS = ("ReLU", "ReLU6")
_SATURATING = {"Sigmoid": (0.01, 0.99), "Tanh": (-0.99, 0.99)}
_OWN_CODE = ("Lambda", "RandomFlip")  # Layers of Keras's that call the user's code, or draw numbers whatever the mode.


class Seen:
    def __init__(self):
        self.loss_call = {}
        self.activations = []
        self.gradients = None


class Forward:
    """Of one model. Made only where every layer is Keras's own."""

    def __init__(self, model, engine):
        self._model = model
        self._engine = engine
        self._layers = _chain(model)
        leaves = describe.leaves(model)
        self._activating = sum(_is_watched(layer) for layer in self._layers or ())
        self._hides_logits = engine.finds_logits and bool(leaves) and describe.activation_of(leaves[-1]) in ("Softmax", "Sigmoid")

    @staticmethod
    def of(model, engine):
        return Forward(model, engine) if _is_plain(model) else None

    def run(self, x, y, call):
        seen, taken = Seen(), []
        loss = _resolved_loss(self._model, self._engine)
        variables = self._model.trainable_variables

        def forward():
            return self._outputs(x, taken)

        if loss is None or y is None or not hasattr(y, "shape") or not variables:
            outputs = self._engine.outputs(self._model, forward)
        else:
            outputs, seen.gradients = self._engine.gradients(self._model, forward, lambda given: loss(y, given))
            taken[:] = taken[-self._activating :] if self._activating else []
        if hasattr(outputs, "shape") and y is not None and hasattr(y, "shape") and loss is not None:
            seen.loss_call = pairs.loss_call(loss, self._hides_logits, self._engine.numpy(outputs), y, call)
        seen.activations = [facts for layer, values in taken for facts in _activation(layer, self._engine.numpy(values))]
        return seen

    def _outputs(self, x, taken):
        if self._layers is None:
            return self._model(x, training=False)
        values = x
        for layer in self._layers:
            values = layer(values, training=False) if _takes_mode(layer) else layer(values)
            if _is_watched(layer):
                taken.append((layer, values))
        return values


def _takes_mode(layer):
    return getattr(layer, "_call_has_training_arg", False) or getattr(layer, "_expects_training_arg", False)


def _is_watched(layer):
    return describe.activation_of(layer) in (*_RECTIFIERS, *_SATURATING)


def _activation(layer, values):
    """The facts of an "activation" observation."""
    kind, rows = describe.activation_of(layer), values.shape[0]
    if values.ndim < 2 or rows < 2:
        return
    facts = {"module": layer.name, "type": kind, "side": "output", "samples": rows}
    if kind in _RECTIFIERS:
        units = values.reshape(-1, values.shape[-1])
        facts.update(units=units.shape[1], dead=int((units <= 0).all(axis=0).sum()), zero=float((units <= 0).mean()))
    else:
        low, high = _SATURATING[kind]
        facts["saturated"] = float(((values < low) | (values > high)).mean())
    yield facts


def _chain(model):
    """The layers of a plain stack; None where the model is more than that."""
    if type(model).__name__ != "Sequential":
        return None
    layers = list(model.layers)
    return layers if all(type(layer).__name__ not in ("Sequential", "Functional", "Model") for layer in layers) else None


def _is_plain(model):
    if not _is_kerass(model) or not getattr(model, "built", False):
        return False
    for layer in describe.leaves(model):
        if not _is_kerass(layer) or type(layer).__name__.startswith(_OWN_CODE) or getattr(layer, "stateful", False):
            return False
        if getattr(layer, "activity_regularizer", None) is not None:
            return False
        activation = getattr(layer, "activation", None)
        if callable(activation) and not _is_kerass_function(activation):
            return False
    return True


def _is_kerass(thing):
    return type(thing).__module__.split(".")[0] in ("keras", "tf_keras")


def _is_kerass_function(function):
    module = getattr(function, "__module__", None) or type(function).__module__
    return module.split(".")[0] in ("keras", "tf_keras")


def _resolved_loss(model, engine):
    """The one loss of a model with one output, as an object of Keras's; None for several or for the user's own."""
    compiled = getattr(model, "_compile_loss", None)
    flat = getattr(compiled, "_flat_losses", None)
    if flat is not None and len(flat) == 1:
        loss = flat[0].loss
        return loss if pairs.name_of(loss) is not None else None
    return _from_argument(getattr(model, "loss", None), type(model).__mro__, engine)


def _from_argument(loss, kinds, engine):
    """Before the first step Keras has not made it yet."""
    if loss is None or isinstance(loss, (list, tuple, dict)):
        return None
    legacy = any(kind.__module__.startswith("tf_keras") for kind in kinds)
    losses = sys.modules.get("tf_keras.src.losses" if legacy else "keras.src.losses")
    if isinstance(loss, str) and losses is not None:
        loss = losses.get(loss)
    if pairs.name_of(loss) is None:
        return None
    return loss if hasattr(loss, "fn") else _Wrapped(loss, engine)


class _Wrapped:
    """A bare loss function of Keras's: the mean over its batch."""

    def __init__(self, function, engine):
        self.fn = function
        self._engine = engine

    def __call__(self, targets, outputs):
        return self._engine.mean(self.fn(targets, outputs))
