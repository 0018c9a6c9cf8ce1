"""What the best constant answer would cost, by the loss that the model was compiled with and the labels that `fit` is given."""

import re

import numpy

_TINY = 1e-7
_SHORT = {"mse": "mean_squared_error", "mae": "mean_absolute_error"}


def loss_name(model):
    """ "mean_squared_error", whether it was given by name, function or object; None: several, or none."""
    loss = getattr(model, "loss", None)
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", None) or type(loss).__name__
    if loss is None or isinstance(loss, (list, tuple, dict)):
        return None
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return _SHORT.get(name, name)


def guess_of(model, labels):
    try:
        values = numpy.asarray(labels)
    except (TypeError, ValueError):
        return None
    name = loss_name(model)
    if labels is None or values.dtype == object or values.ndim == 0 or name is None:
        return None
    if name == "sparse_categorical_crossentropy":
        return _entropy(numpy.unique(values, return_counts=True)[1] / values.size)
    table = values.reshape(len(values), -1).astype(float)
    if name == "categorical_crossentropy":
        return _entropy(table.mean(axis=0))
    if name == "binary_crossentropy":
        share = table.mean(axis=0)
        return float(numpy.mean([_entropy(numpy.array([p, 1 - p])) for p in share]))
    if name == "mean_squared_error":
        return float(table.var(axis=0).mean())
    return float(numpy.abs(table - numpy.median(table, axis=0)).mean()) if name == "mean_absolute_error" else None


def _entropy(shares):
    return float(-(shares * numpy.log(shares.clip(_TINY))).sum())
