"""Looks into the graph of a loss before its backward pass frees it: of one that is not finite, and of the first ones."""

from whystop_probe.torch.tensors import nonfinite

_NODES_MAX = 3000
_TENSORS_MAX = 600
_ELEMENTS_MAX = 1 << 22
_HAND_WRITTEN_DEPTH = 8  # Mean, sum of two parts, product, power, bound, absolute value, difference, and one to spare.


class Origin:
    """Where in a graph the first non-finite value is saved: its node's name, and whether that value came from outside."""

    def __init__(self, node, saved, shape, leaf):
        self.node = node  # "LogBackward0"
        self.saved = saved  # "self": which of the node's tensors
        self.shape = shape
        self.leaf = leaf  # The tensor is no result of this graph: an input, a target or a weight.


def find_origin(loss, reader):
    """The non-finite saved tensor of the node that ran first, or None. Reads, keeps nothing."""
    best = None
    looked_at = 0
    for depth, node in walk(loss.grad_fn):
        for name in dir(node):
            if not name.startswith("_saved_") or looked_at >= _TENSORS_MAX:
                continue
            tensor = saved(node, name)
            if tensor is None or not reader.readable(tensor) or not 0 < tensor.numel() <= _ELEMENTS_MAX:
                continue
            looked_at += 1
            if tensor.dtype.is_floating_point and nonfinite(reader.stats([tensor.detach().contiguous()])[0]):
                leaf = tensor.grad_fn is None and not name.startswith("_saved_result")  # Statistics of its own have no history either.
                order = (-_number(node), depth, leaf)
                if best is None or order > best[0]:
                    best = (order, Origin(node.name(), name[len("_saved_") :], "x".join(map(str, tensor.shape)), leaf))
    return best[1] if best is not None else None


def broadcast_difference(loss):
    """(shape of the output, shape of the difference) where an error written by hand subtracts targets [N] from outputs [N, 1]: a
    table of all pairs. None where it does not. A difference of two things that learn may be meant so."""
    for depth, node in walk(loss.grad_fn):
        if depth > _HAND_WRITTEN_DEPTH:
            return None
        if node.name() not in ("SubBackward0", "RsubBackward1"):
            continue
        sides = [following for following, _ in node.next_functions]
        learning = [side for side in sides if side is not None]
        whole = shape_of(node)
        if len(learning) == 1 and whole is not None and len(whole) == 2 and whole[0] == whole[1] > 1:
            part = shape_of(learning[0])
            if part in ((whole[0], 1), (whole[0],)):
                return part, whole
    return None


_LINEAR = frozenset(
    "Add Sub Rsub Neg Div T Transpose Permute View UnsafeView ReshapeAlias Squeeze Unsqueeze Expand Slice Select Index IndexSelect Cat Stack Sum Mean "
    "Clone Alias ToCopy AsStrided Split Unbind Flatten Convolution MkldnnConvolution ThnnConv2D SlowConv2D AvgPool2D AdaptiveAvgPool2D NativeBatchNorm "
    "NativeDropout Embedding Gather".split()
)
_PRODUCTS = frozenset("Addmm Mm Bmm Baddbmm Mv Addbmm Convolution MkldnnConvolution ThnnConv2D SlowConv2D".split())


def layers_of(loss):
    """(whether one product with weights follows another, whether anything but sums and products stands between two, whether what lies
    between is narrower than what goes in and comes out), or None where the graph is too large. What stands behind the last product is the
    loss's and the output's own."""
    seen, queue, chained, widths = set(), [(loss.grad_fn, False)] if loss.grad_fn is not None else [], False, []
    while queue:
        node, below = queue.pop()
        if (node, below) in seen or hasattr(node, "variable"):
            continue
        seen.add((node, below))
        if len(seen) > _NODES_MAX:
            return None
        kind = node.name().split("Backward")[0]
        sides = [following for following, _ in node.next_functions if following is not None]
        product = kind in _PRODUCTS or (kind == "Mul" and len(sides) > 1)
        if below and not product and kind not in _LINEAR and kind != "Mul":
            return True, True, False
        if product and sum(not _is_weight(side) for side in sides) > 1:
            if below:
                return True, True, False  # Of two things that hang on the inputs: attention, gates.
        elif product:
            chained = chained or below
            widths += [(below, *found) for found in [_widths(node, sides)] if found is not None]
        queue += [(side, below or kind in _PRODUCTS) for side in sides]
    return chained, False, _narrows(widths)


def _widths(node, sides):
    """(what goes in, what comes out) of a product with a table of weights."""
    shape = shape_of(node)
    weight = next((found for found in map(_weight_of, sides) if found is not None and found.dim() == 2), None)
    return None if weight is None or not shape or shape[-1] == 0 else (weight.numel() // shape[-1], shape[-1])


def _narrows(widths):
    """A table of low rank, as embeddings and factors have it by design."""
    inner, last = [found[1:] for found in widths if found[0]], [found[2] for found in widths if not found[0]]
    return bool(inner and last) and min(out for _, out in inner) < min(max(last), max(into for into, _ in inner))


def _weight_of(node):
    return _variable_below(node) if _is_weight(node) else None


def _variable_below(node):
    while not hasattr(node, "variable"):
        node = next(following for following, _ in node.next_functions if following is not None)
    return node.variable


def _is_weight(node):
    """A parameter, perhaps turned or seen otherwise."""
    for _ in range(4):
        if hasattr(node, "variable"):
            return True
        below = [following for following, _ in node.next_functions if following is not None]
        if len(below) != 1 or node.name().split("Backward")[0] not in ("T", "Transpose", "Permute", "View", "Expand", "Unsqueeze", "Alias", "Clone"):
            return False
        node = below[0]
    return False


def all_leaves(loss):
    """The tensors without history that get a gradient by this loss."""
    return [node.variable for _, node in walk(loss.grad_fn) if hasattr(node, "variable")]


def leaves(loss, parameter_type):
    """The tensors without history that a loss hangs on, in the order of its graph: the parameters of modules, or where it hangs on
    none, whatever else wants a gradient."""
    found = all_leaves(loss)
    parameters = [leaf for leaf in found if isinstance(leaf, parameter_type)]
    return parameters or found


def _number(node):
    """In the order in which the operations ran; 0 where this torch does not tell. The way to the loss says less: a residual
    connection is a short cut."""
    number = getattr(node, "_sequence_nr", None)
    return number() if number is not None else 0


def shape_of(node):
    """Of the value that this node's operation gave; _input_metadata is there from torch 2.1 on."""
    metadata = getattr(node, "_input_metadata", None)
    return tuple(metadata[0].shape) if metadata else None


def walk(start):
    """Nodes with their distance from the loss, nearest first."""
    seen, queue = {start}, [(0, start)] if start is not None else []
    while queue and len(seen) < _NODES_MAX:
        depth, node = queue.pop(0)
        yield depth, node
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                queue.append((depth + 1, following))


def saved(node, name):
    try:
        value = getattr(node, name, None)
    except RuntimeError:  # Freed, or changed in place since.
        return None
    return value if hasattr(value, "data_ptr") else None
