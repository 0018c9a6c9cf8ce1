"""Finds the model: which modules exist, which is the root, what the parameters are called."""

from collections import Counter

from whystop_probe.core.guard import quiet
from whystop_probe.core.weak import WeakTable

_ACTIVATIONS = frozenset(
    "ReLU ReLU6 LeakyReLU PReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softplus Softmax LogSoftmax Hardswish Hardsigmoid".split()
)
_PARTS_BYTES_MAX = 300
_NORMS = ("BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm", "LocalResponseNorm")


class Modules:
    """Remembers, weakly, every module that was built, and which of them are parts of others."""

    def __init__(self, training):
        self._training = training
        self._built = WeakTable()
        self._parts = WeakTable()  # Modules that belong to another one.
        self.count = 0  # Modules with parameters or parts that were ever built.

    @quiet
    def on_parameter(self, module, name, parameter):
        self._remember(module)

    @quiet
    def on_module(self, module, name, part):
        self._remember(module)
        if part is not None:
            self._remember(part)
            self._parts.add(part)

    @quiet
    def on_copied(self, result, module, *rest):
        """deepcopy() and load() fill modules without building them: who makes one may go on with it."""
        self.count += 1

    def _remember(self, module):
        if module not in self._built:
            self.count += 1
            self._built.add(module)

    def root_of(self, parameters):
        """The module that owns most of these parameters and is part of no other; None where none was seen."""
        wanted = {id(parameter) for parameter in parameters}
        best, best_score = None, (0, False)
        for module in self._built:
            if not isinstance(getattr(module, "_modules", None), dict):
                continue
            owned = sum(id(parameter) in wanted for parameter in module.parameters())
            score = (owned, module not in self._parts)
            if owned and score > best_score:
                best, best_score = module, score
        return best

    def all_parameters(self):
        """Ids of the parameters of every module that is alive, and of those inside it: a copy of a module is never built."""
        found, seen = set(), set()
        for module in self._built:
            for _, inner in module.named_modules(memo=seen):
                found.update(id(parameter) for parameter in inner._parameters.values() if parameter is not None)
        return found


class Names:
    """Names of parameters by identity, from the root module's tree."""

    def __init__(self):
        self._names = {}

    def learn(self, root):
        if root is not None:
            for name, parameter in root.named_parameters():
                self._names[id(parameter)] = name

    def of(self, parameter, fallback):
        return self._names.get(id(parameter), fallback)


def describe(channel, root, step):
    """The "model" observation."""
    classes = Counter(type(module).__name__ for module in root.modules())
    parameters = list(root.parameters())
    leaves = [module for module in root.modules() if not any(True for _ in module.children()) and not type(module).__name__.endswith("Loss")]
    channel.observe(
        "model",
        step,
        name=type(root).__name__,
        parts=",".join(name for name, _ in root.named_children())[:_PARTS_BYTES_MAX],
        modules=sum(classes.values()),
        parameters=sum(parameter.numel() for parameter in parameters),
        trainable=sum(parameter.numel() for parameter in parameters if parameter.requires_grad),
        tensors=len(parameters),
        matrices=sum(parameter.dim() >= 2 for parameter in parameters),
        trainable_matrices=sum(parameter.dim() >= 2 for parameter in parameters if parameter.requires_grad),
        activations=_pick(classes, lambda name: name in _ACTIVATIONS),
        norms=_pick(classes, lambda name: name.startswith(_NORMS)),
        dropouts=_pick(classes, lambda name: "Dropout" in name),
        dropout_max=max((float(getattr(leaf, "p", 0) or 0) for leaf in leaves if "Dropout" in type(leaf).__name__), default=None),
        layers=_pick(classes, lambda name: name not in _ACTIVATIONS and not name.startswith(_NORMS) and "Dropout" not in name),
        last=type(leaves[-1]).__name__ if leaves else None,
        dtypes=",".join(sorted({str(parameter.dtype).replace("torch.", "") for parameter in parameters})),
        devices=",".join(sorted({parameter.device.type for parameter in parameters})),
    )


def _pick(classes, wanted):
    return ",".join(f"{name}:{count}" for name, count in classes.most_common() if wanted(name))[:400]
