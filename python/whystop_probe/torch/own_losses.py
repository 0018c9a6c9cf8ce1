"""Losses written by hand: what they compare is read off the graph, so that the rules know outputs and targets as of torch's own functions."""

from math import isclose, prod, sqrt

from whystop_probe.core.guard import quiet
from whystop_probe.torch.graph import saved, shape_of, walk

_SAMPLED = (1, 2, 3, 10, 30, 60, 100, 300, 1000, 3000, 10000, 30000, 100000)
_DEPTH_MAX = 9  # Mean, sign, product, power, bound, absolute value, difference, views.
_ELEMENTS_MAX = 1 << 18
_CLOSE = 0.02  # Of the loss: what the graph seems to say must be what came out.
# What changes no value; a copy in another precision counts, since what 16 bits hold 32 bits hold too.
_VIEWS = frozenset("ViewBackward0 UnsafeViewBackward0 ReshapeAliasBackward0 SqueezeBackward0 SqueezeBackward1 UnsqueezeBackward0 CloneBackward0 AliasBackward0 ToCopyBackward0".split())
_WRAPPERS = _VIEWS | frozenset("NegBackward0 ClampBackward0 ClampBackward1 ClampMinBackward0".split())
_PRODUCTS = {"AddmmBackward0": ("_saved_mat1", "_saved_mat2"), "MmBackward0": ("_saved_self", "_saved_mat2"), "MvBackward0": ("_saved_self", "_saved_vec")}


class OwnLosses:
    """Looks at a few losses ahead of their backward pass, as long as none of torch's loss functions was called."""

    def __init__(self, torch, training, loss_calls):
        self._torch = torch
        self._reader = LossReader(torch)
        self._training = training
        self._loss_calls = loss_calls
        training.pulse.look_at_loss = self._look
        training.pulse.loss_due_at = _SAMPLED[0]
        self.on_first = []  # Called with the first loss.

    @quiet
    def _look(self, loss):
        training = self._training
        count = training.pulse.backwards
        for listener in self.on_first if count == 1 else ():
            listener(loss)
        if training.compiled or training.saved_hooks or any(bell.count for bell in training.bells["loss_calls"]):
            return
        training.pulse.loss_due_at = next((due for due in _SAMPLED if due > count), 0)
        if type(loss) is not self._torch.Tensor or not loss.is_cpu or loss.numel() != 1:
            return
        with self._torch.no_grad():
            found = self._reader.read(loss)
        if found is not None:
            self._loss_calls.look(found[0], count, found[1], found[2], (), True)


class LossReader:
    """What a loss compares, by its graph."""

    def __init__(self, torch):
        self._torch = torch
        self.outputs = None  # Of the model, where they are at hand: not every operation saves its result.

    def read(self, loss):
        """(function of torch that gives the same, outputs, targets), or None where it is none of these."""
        value = float(loss.detach())
        for depth, node in walk(loss.grad_fn):
            if depth > _DEPTH_MAX:
                return None
            name = node.name()
            found = None
            if name in ("PowBackward0", "AbsBackward0", "MulBackward0"):
                found = self._error(node, name, value)
            if found is None and name in ("GatherBackward0", "IndexBackward0", "MulBackward0"):
                found = self._classes(node, name, value)
            if found is not None:
                return found
        return None

    def _error(self, node, name, value):
        """A power or absolute value of a difference between outputs and something fixed."""
        below = [following for following, _ in node.next_functions]
        if name == "MulBackward0" and not (len(below) == 2 and below[0] is below[1]):
            return None
        if name == "PowBackward0" and node._saved_exponent != 2:
            return None
        difference = _through(below[0], _VIEWS)
        if difference is None or difference.name() not in ("SubBackward0", "RsubBackward1"):
            return None
        sides = [following for following, _ in difference.next_functions]
        learning = [index for index, side in enumerate(sides) if side is not None]
        error = saved(node, "_saved_self")
        if len(learning) != 1 or error is None or not _small(error) or getattr(difference, "_saved_alpha", 1) != 1:
            return None
        outputs = self.outputs if self.outputs is not None else self._value_of(sides[learning[0]])
        if outputs is None or outputs.numel() != error.numel():
            return None
        outputs = outputs.reshape(error.shape)
        turned = learning[0] == 1 or difference.name() == "RsubBackward1"  # targets - outputs
        targets = outputs + error if turned else outputs - error
        squares = float(error.double().square().mean())
        for function, level in (("mse_loss", squares), ("l1_loss", float(error.double().abs().mean())), ("rmse_loss", sqrt(squares))):
            if isclose(value, level, rel_tol=_CLOSE):
                return function, outputs, targets
        return None

    def _classes(self, node, name, value):
        """Logarithms of probabilities, of which the targets pick some."""
        torch = self._torch
        learning = [following for following, _ in node.next_functions if following is not None]
        source = _through(learning[0], _WRAPPERS) if len(learning) == 1 else None
        source_name = source.name() if source is not None else ""
        if source_name == "LogSoftmaxBackward0":
            logs = saved(source, "_saved_result")
        elif source_name in ("LogBackward0", "SoftmaxBackward0"):
            shares = saved(source, "_saved_self" if source_name == "LogBackward0" else "_saved_result")
            logs = None if shares is None or not _small(shares) else shares.clamp_min(1e-12).log()
        else:
            return None
        if logs is None or not _small(logs):
            return None
        if name == "MulBackward0":
            weights = next((tensor for tensor in (saved(node, "_saved_other"), saved(node, "_saved_self")) if tensor is not None and not tensor.requires_grad), None)
            return None if weights is None else self._weighed(logs, weights, value)
        labels = saved(node, "_saved_index") if name == "GatherBackward0" else _last_index(node)
        if labels is None or logs.dim() != 2 or labels.numel() != logs.shape[0]:
            return None
        labels = labels.reshape(-1)
        picked = -float(logs.double().gather(1, labels[:, None]).mean())
        return ("cross_entropy", logs, labels) if isclose(value, picked, rel_tol=_CLOSE) and self._sum_to_one(logs) else None

    def _weighed(self, logs, weights, value):
        """Targets as rows of shares, or as numbers between 0 and 1 for one of two classes."""
        if weights.shape != logs.shape or not bool(((weights >= 0) & (weights <= 1)).all()):
            return None
        shares, answers = logs.double().exp(), weights.double()
        if logs.dim() == 2 and logs.shape[1] > 1 and self._sum_to_one(logs):
            picked = -float((logs.double() * answers).sum(1).mean())
            return ("cross_entropy", logs, weights.argmax(1)) if isclose(value, picked, rel_tol=_CLOSE) else None
        both = -(answers * logs.double() + (1 - answers) * (1 - shares).clamp_min(1e-12).log())
        return ("binary_cross_entropy", shares, answers) if isclose(value, float(both.mean()), rel_tol=_CLOSE) else None

    def _sum_to_one(self, logs):
        return bool(((logs.double().exp().sum(-1) - 1).abs() < 1e-3).all())

    def _value_of(self, node, depth=0):
        """What the operation of a node gave, from what it has saved; None where that cannot be had cheaply."""
        name = node.name()
        if depth > 4:
            return None
        if hasattr(node, "variable"):
            return node.variable.detach()
        if name in _VIEWS:
            value, shape = self._value_of(node.next_functions[0][0], depth + 1), shape_of(node)
            return value.reshape(shape) if value is not None and shape is not None and value.numel() == prod(shape) else None
        result = saved(node, "_saved_result")
        if result is not None:
            return result if _small(result) else None
        if name == "SelectBackward0":
            value = self._value_of(node.next_functions[0][0], depth + 1)
            return None if value is None else value.select(node._saved_dim, node._saved_index)
        if name == "AddBackward0":
            parts = [None if side is None else self._value_of(side, depth + 1) for side, _ in node.next_functions]
            return None if len(parts) != 2 or any(part is None for part in parts) else parts[0] + parts[1]
        if name == "TBackward0":
            value = self._value_of(node.next_functions[0][0], depth + 1)
            return None if value is None else value.t()
        return self._product(node, name, depth) if name in _PRODUCTS else None

    def _product(self, node, name, depth):
        """Of a plain layer. What needs no gradient is saved for the other's, and the other way round."""
        sides = [side for side, _ in node.next_functions]
        bias = sides.pop(0) if name == "AddmmBackward0" else None
        parts = [saved(node, operand) for operand in _PRODUCTS[name]]
        parts = [self._value_of(side, depth + 1) if part is None and side is not None else part for part, side in zip(parts, sides)]
        if any(part is None or not _small(part) for part in parts):
            return None
        product = parts[0] @ parts[1]
        if bias is None:
            return product
        offset = self._value_of(bias, depth + 1)
        return None if offset is None else product + offset


def _through(node, names):
    """The first node that is none of these."""
    while node is not None and node.name() in names:
        node = node.next_functions[0][0]
    return node


def _last_index(node):
    indices = node._saved_indices
    return indices[-1] if isinstance(indices, (list, tuple)) and indices and hasattr(indices[-1], "data_ptr") else None


def _small(tensor):
    return tensor.is_cpu and 0 < tensor.numel() <= _ELEMENTS_MAX
