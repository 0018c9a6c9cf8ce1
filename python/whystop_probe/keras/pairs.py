"""What a loss of Keras was given, told as a call of the function of PyTorch that computes the same.

A categorical cross-entropy on probabilities is `nll_loss` of their logarithms, so probabilities are no fault there; what
Keras expected and whether it got it stand beside it (`expects`, `rows_sum_to_one`).
"""

import numpy

from whystop_probe.core.arrays import ranges, shape_text

_SUM_MARGIN = 1e-3
_SMALLEST = 1e-7  # Keras clips probabilities there.
_NAMES = {
    "mean_squared_error": "mse_loss",
    "mean_absolute_error": "l1_loss",
    "huber": "huber_loss",
    "kl_divergence": "kl_div",
}
_CATEGORICAL = ("sparse_categorical_crossentropy", "categorical_crossentropy")
_FOCAL = ("binary_focal_crossentropy", "categorical_focal_crossentropy")


def name_of(loss):
    """The function behind a resolved loss, as Keras names it; None for one of the user's own."""
    function = getattr(loss, "fn", None) or loss
    name = getattr(function, "__name__", None)
    module = getattr(function, "__module__", "") or ""
    return name if name and module.split(".")[0] in ("keras", "tf_keras") else None


def from_logits(loss):
    return bool((getattr(loss, "_fn_kwargs", None) or {}).get("from_logits", False))


def loss_call(loss, logits_reach_it, outputs, targets, call):
    """The attributes of a "loss-call" observation; {} where the loss is not one that is known.

    `logits_reach_it`: the last layer is a softmax or sigmoid whose input Keras takes instead of its output.
    """
    name = name_of(loss)
    if name is None or outputs.ndim < 1 or outputs.shape[0] != targets.shape[0]:
        return {}
    logits = from_logits(loss)
    facts = {"framework_function": name, "call": call, "from_logits": logits, "input_requires_grad": True, "grad_enabled": True}
    facts["input_dtype"] = outputs.dtype.name
    outputs = outputs.astype(numpy.float64)
    if targets.ndim == outputs.ndim - 1 and outputs.shape[-1] == 1:
        targets = targets[..., None]
    if name in _CATEGORICAL or name in _FOCAL[1:]:
        facts.update(_categorical(outputs, targets, logits and not logits_reach_it))
    elif name in ("binary_crossentropy",) + _FOCAL[:1]:
        facts["function"] = "binary_cross_entropy_with_logits" if logits and not logits_reach_it else "binary_cross_entropy"
        facts["expects"] = "logits" if logits else "probabilities"
        facts["within_zero_to_one"] = not ((outputs < 0) | (outputs > 1)).any()  # NaN is neither.
        if outputs.ndim >= 2 and outputs.shape[-1] > 1:
            facts["rows_sum_to_one"] = bool((numpy.abs(outputs.sum(axis=-1) - 1) < _SUM_MARGIN).all())
        facts.update(_spread(outputs))
    else:
        facts["function"] = _NAMES.get(name, name)
        facts.update(_spread(outputs))
    facts.setdefault("input_shape", shape_text(outputs))
    facts.setdefault("target_shape", shape_text(targets))
    facts.setdefault("target_dtype", targets.dtype.name)
    if "input_min" not in facts:
        facts.update(ranges("input", outputs))
    if "target_min" not in facts:
        facts.update(ranges("target", targets.astype(numpy.float64)))
    return facts


def _categorical(outputs, targets, logits):
    classes = outputs.shape[-1]
    facts = {"classes": classes, "expects": "logits" if logits else "probabilities"}
    if logits:
        facts["function"], inputs = "cross_entropy", outputs
        facts["sums_to_one"] = bool((outputs >= 0).all() and (numpy.abs(outputs.sum(axis=-1) - 1) < _SUM_MARGIN).all())
    else:
        facts["function"], inputs = "nll_loss", numpy.log(numpy.clip(outputs, _SMALLEST, None))
        facts["within_zero_to_one"] = not ((outputs < 0) | (outputs > 1)).any()  # NaN is neither.
        facts["rows_sum_to_one"] = bool(facts["within_zero_to_one"] and (numpy.abs(outputs.sum(axis=-1) - 1) < _SUM_MARGIN).all())
        facts["exp_sums_to_one"] = facts["rows_sum_to_one"]
    facts.update(ranges("input", numpy.ascontiguousarray(inputs)))
    facts.update(_spread(inputs))
    sparse = targets.ndim < outputs.ndim or (targets.shape[-1] == 1 and classes > 1)
    labels = targets.reshape(-1) if sparse else None
    if not sparse:
        sums = targets.astype(numpy.float64).sum(axis=-1)
        facts.update(target_rows_sum_min=float(sums.min()), target_rows_sum_max=float(sums.max()))
        if ((targets == 0) | (targets == 1)).all() and (sums == 1).all():
            labels = targets.reshape(-1, targets.shape[-1]).argmax(axis=1)
    if labels is not None:
        facts.update(_labels(labels.astype(numpy.float64)))
        facts.update(target_dtype="int64", target_shape=shape_text(labels))
        facts.update(ranges("target", labels.astype(numpy.float64)))
    return facts


def _labels(labels):
    found, counts = numpy.unique(labels[numpy.isfinite(labels)], return_counts=True)
    if not found.size:
        return {}
    most = int(counts.argmax())
    return {
        "ignored": 0.0,
        "label_min": float(found[0]),
        "label_max": float(found[-1]),
        "label_distinct": found.size,
        "label_most": float(found[most]),
        "label_most_share": float(counts[most]) / labels.size,
    }


def _spread(outputs):
    facts = {"constant_output": bool((outputs == outputs.reshape(-1)[0]).all())}
    if outputs.shape[0] > 1:
        facts["rows_std_mean"] = float(outputs.reshape(outputs.shape[0], -1).std(axis=0, ddof=1).mean())
    return facts
