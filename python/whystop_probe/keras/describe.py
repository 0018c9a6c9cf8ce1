"""What a model, its optimizer and its loss are, in the words that the other frameworks' observations use."""

from collections import Counter

# Keras names its activations as functions; the observations name them as PyTorch's modules.
_ACTIVATIONS = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "elu": "ELU", "selu": "SELU", "celu": "CELU", "gelu": "GELU",
    "silu": "SiLU", "swish": "SiLU", "mish": "Mish", "sigmoid": "Sigmoid", "tanh": "Tanh", "softplus": "Softplus",
    "softmax": "Softmax", "log_softmax": "LogSoftmax", "hard_sigmoid": "Hardsigmoid", "hard_swish": "Hardswish",
}  # fmt: skip
_ACTIVATION_LAYERS = {
    "ReLU": "ReLU", "LeakyReLU": "LeakyReLU", "PReLU": "PReLU", "ELU": "ELU", "Softmax": "Softmax",
}  # fmt: skip
_NORMS = {"BatchNormalization": "BatchNorm", "LayerNormalization": "LayerNorm", "GroupNormalization": "GroupNorm"}
_RECURRENT = ("LSTM", "GRU", "RNN", "Bidirectional")  # Their activation is inside; what they give is not shaped by it alone.
_PACKAGES = ("keras", "tf_keras")
_TEXT_MAX = 400


def leaves(model):
    """The layers that hold no others, in the order in which they were made."""
    found = []

    def walk(layer):
        inside = getattr(layer, "layers", None) or getattr(layer, "_layers", None) or []
        parts = [part for part in inside if hasattr(part, "count_params")]
        if not parts or type(layer).__name__.endswith(_RECURRENT):
            found.append(layer)
        for part in parts if found[-1:] != [layer] else ():
            walk(part)

    for layer in model.layers:
        walk(layer)
    return found


def activation_of(layer):
    """The activation that a layer's output has passed, by its name; None for a linear one."""
    kind = type(layer).__name__
    if kind in _ACTIVATION_LAYERS:
        return _ACTIVATION_LAYERS[kind]
    if kind.endswith(_RECURRENT):
        return None
    name = getattr(getattr(layer, "activation", None), "__name__", None)
    return _ACTIVATIONS.get(name)


def _last_shaping(layers):
    """The last layer that changes values: a Flatten or a Dropout behind an activation takes nothing from it."""
    passing = ("Flatten", "Reshape", "Dropout", "InputLayer", "Permute")
    return next((layer for layer in reversed(layers) if type(layer).__name__ not in passing), None)


def tell_model(channel, model, step):
    """The "model" observation. Returns the class of the last activation, or of the last layer."""
    layers = leaves(model)
    classes = Counter(type(layer).__name__ for layer in layers if type(layer).__name__ != "InputLayer")
    activations = Counter(filter(None, (activation_of(layer) for layer in layers)))
    weights, trainable = model.weights, model.trainable_weights
    last_layer = _last_shaping(layers)
    last = None if last_layer is None else activation_of(last_layer) or type(last_layer).__name__
    channel.observe(
        "model",
        step,
        name=type(model).__name__,
        modules=len(layers) + 1,
        parameters=sum(_size(weight) for weight in weights),
        trainable=sum(_size(weight) for weight in trainable),
        tensors=len(weights),
        matrices=sum(len(weight.shape) >= 2 for weight in weights),
        trainable_matrices=sum(len(weight.shape) >= 2 for weight in trainable),
        activations=_pick(activations),
        norms=_pick(Counter({_NORMS[name]: count for name, count in classes.items() if name in _NORMS})),
        dropouts=_pick(Counter({name: count for name, count in classes.items() if "Dropout" in name})),
        dropout_max=max((float(layer.rate) for layer in layers if "Dropout" in type(layer).__name__ and hasattr(layer, "rate")), default=None),
        layers=_pick(Counter({name: count for name, count in classes.items() if name not in _NORMS and "Dropout" not in name})),
        last=last,
        dtypes=",".join(sorted({_dtype(weight) for weight in weights} | _computed_in(layers))),
        frozen_layers=",".join(layer.name for layer in layers if layer.weights and not layer.trainable)[:_TEXT_MAX],
    )
    return last


def tell_norms(channel, model, samples, step):
    """The "norm-input" observation of a batch norm of vectors: it has as many values for a mean as the batch has samples."""
    for layer in leaves(model):
        spec = getattr(layer, "input_spec", None)
        if type(layer).__name__ == "BatchNormalization" and getattr(spec, "ndim", None) == 2 and samples:
            channel.observe("norm-input", step, module=layer.name, type=type(layer).__name__, samples=samples, values=samples)
            return


def tell_penalty(channel, model, value_of, step):
    """The "penalty" observation. `value_of` gives the values of a variable. Silent where a regularizer is the user's own."""
    total, kinds = 0.0, Counter()
    for layer in leaves(model):
        for name in ("kernel", "recurrent", "bias", "embeddings"):
            regularizer = getattr(layer, f"{name}_regularizer", None)
            weight = getattr(layer, "recurrent_kernel" if name == "recurrent" else name, None)
            if regularizer is None or weight is None:
                continue
            if type(regularizer).__name__ not in ("L1", "L2", "L1L2") or type(regularizer).__module__.split(".")[0] not in _PACKAGES:
                return
            values = value_of(weight).astype("float64")
            l1, l2 = (float(getattr(regularizer, part, 0.0)) for part in ("l1", "l2"))
            total += l1 * float(abs(values).sum()) + l2 * float((values * values).sum())
            kinds[f"{type(regularizer).__name__}({l1 or l2:g})"] += 1
    if kinds:
        channel.observe("penalty", step, value=total, kinds=_pick(kinds))


def _computed_in(layers):
    """Mixed precision: the weights stay in float32, the arithmetic does not."""
    return {str(layer.compute_dtype) for layer in layers if getattr(layer, "compute_dtype", None) not in (None, "float32")}


def _dtype(weight):
    return str(getattr(weight.dtype, "name", weight.dtype))


def _size(weight):
    count = 1
    for size in weight.shape:
        count *= int(size or 0)
    return count


def _pick(counter):
    return ",".join(f"{name}:{count}" for name, count in counter.most_common())[:_TEXT_MAX]


def logs_own_losses(model, value_of):
    """Whether a step of the user's own logs the loss of each batch as it is: behind a batch, nothing that takes means has been told of it."""
    if type(model).train_step.__module__.split(".")[0] in _PACKAGES:
        return False
    means = [metric for metric in model.metrics if type(metric).__name__ == "Mean" and type(metric).__module__.split(".")[0] in _PACKAGES]
    return not any(float(value_of(metric.count)) > 0 for metric in means)


def inner_optimizer(optimizer):
    """The one that a loss scale is wrapped around."""
    return getattr(optimizer, "inner_optimizer", None) or optimizer


def tell_optimizer(channel, optimizer, variables, rate, step):
    """The "optimizer" observation, and "scheduler" where the rate follows one."""
    inner = inner_optimizer(optimizer)
    settings = {name: _plain(getattr(inner, name, None)) for name in ("momentum", "weight_decay", "epsilon", "clipnorm", "clipvalue", "global_clipnorm")}
    schedule = getattr(inner, "_learning_rate", None)
    channel.observe(
        "optimizer",
        step,
        name=type(inner).__name__,
        groups=1,
        tensors=len(variables),
        parameters=sum(_size(variable) for variable in variables),
        lr=rate,
        lrs=None if rate is None else str(rate),
        momentum=settings["momentum"],
        weight_decay=settings["weight_decay"],
        beta1=_plain(getattr(inner, "beta_1", None)),
        beta2=_plain(getattr(inner, "beta_2", None)),
        eps=settings["epsilon"],
        nesterov=_plain(getattr(inner, "nesterov", None)),
    )
    for name, how, limit in (("clipnorm", "norm", "max_norm"), ("global_clipnorm", "norm", "max_norm"), ("clipvalue", "value", "max_value")):
        if settings[name] is not None:
            channel.observe("clip", step, how=how, **{limit: settings[name]})
    if hasattr(schedule, "get_config") and "learning_rate_schedule" in type(schedule).__module__:
        config = {name: value for name, value in schedule.get_config().items() if isinstance(value, (int, float))}
        channel.observe("scheduler", step, **{"name": type(schedule).__name__, **{key: value for key, value in config.items() if key != "name"}})


def _plain(value):
    return float(value) if isinstance(value, (bool, int, float)) else None
