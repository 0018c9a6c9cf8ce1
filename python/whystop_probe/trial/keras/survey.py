"""Which changes could matter, by a look at the arguments of `fit`. The names are those of trial/survey.py."""

import numpy

from whystop_probe.keras.describe import leaves
from whystop_probe.trial.keras.guess import loss_name

_SAMPLES_MAX = 4096


def survey(model, settings):
    facts = {"models": 1, "loss": loss_name(model) or ""}
    layers = leaves(model)
    facts["dropout"] = max((float(layer.rate) for layer in layers if "Dropout" in type(layer).__name__ and hasattr(layer, "rate")), default=0.0)
    facts["batch_norm"] = float(any(type(layer).__name__ == "BatchNormalization" for layer in layers))
    facts["frozen"] = float(sum(len(layer.weights) > 0 and not layer.trainable for layer in layers))
    rate = rate_of(model.optimizer)
    if rate is not None:
        facts["lr"] = facts["lr_now"] = rate
    decay = getattr(model.optimizer, "weight_decay", None)
    facts["weight_decay"] = float(decay or 0) if not callable(decay) else 0.0
    facts["penalty"] = float(any(getattr(layer, "kernel_regularizer", None) is not None for layer in layers))
    facts["probabilities"] = float(logits_mistaken(model))
    weights = [numpy.asarray(w) for w in model.get_weights() if len(w.shape) >= 2]
    if weights:  # Else it is built by its first batch.
        facts["matrices"] = float(len(weights))
    if len(weights) > 1:
        facts["narrowest"] = float(min(w.shape[-1] for w in weights[:-1]))
    facts["symmetric"] = float(any(w.shape[-1] > 1 and numpy.ptp(w.reshape(-1, w.shape[-1]), axis=1).max() == 0 for w in weights))
    facts.update(_of_data(settings.get("x"), settings.get("y"), facts["loss"]))
    facts["unshuffled"] = float(settings.get("shuffle", True) is False)
    facts["batch"] = float(settings.get("batch_size") or 32)
    return facts


def rate_of(optimizer):
    """The first rate, schedule or not."""
    rate = getattr(optimizer, "_learning_rate", None)
    rate = rate(0) if callable(rate) and not hasattr(rate, "assign") else getattr(optimizer, "learning_rate", None)
    try:
        return float(rate)
    except (TypeError, ValueError):
        return None


def logits_mistaken(model):
    """A loss that makes probabilities itself is given what are probabilities already, or the other way round."""
    wants = getattr(getattr(model, "loss", None), "from_logits", None)
    if wants is None:
        kwargs = getattr(getattr(model, "loss", None), "_fn_kwargs", None)
        wants = kwargs.get("from_logits") if isinstance(kwargs, dict) else False if isinstance(model.loss, str) and "crossentropy" in model.loss else None
    if wants is None or not model.layers:
        return False
    name = getattr(getattr(model.layers[-1], "activation", None), "__name__", "")
    gives = name in ("softmax", "sigmoid") or type(model.layers[-1]).__name__ == "Softmax"
    return gives == wants


def _of_data(inputs, labels, loss):
    facts = {}
    if isinstance(inputs, numpy.ndarray) and inputs.dtype.kind == "f" and inputs.ndim >= 2:
        table = inputs[:_SAMPLES_MAX].reshape(min(len(inputs), _SAMPLES_MAX), -1).astype(float)
        table = numpy.nan_to_num(table)
        spread = table.std(axis=0)
        live = spread[spread > 0]
        facts["input_scale"], facts["input_level"] = float(spread.max()), float(numpy.abs(numpy.median(table, axis=0)).max())
        facts["input_range_of_scales"] = float(live.max() / live.min()) if inputs.ndim == 2 and live.size > 1 else 1.0
    if isinstance(labels, numpy.ndarray) and labels.dtype.kind == "f" and "crossentropy" not in loss:
        facts["target_scale"], facts["target_shift"] = float(labels.std()), float(abs(labels.mean()))
    return facts
