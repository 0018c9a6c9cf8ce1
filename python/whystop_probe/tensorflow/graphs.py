"""Looks at a step while it is traced: the graph knows shapes and what follows what, before a number was computed."""

from whystop_probe.core.guard import quiet

_OPERATIONS_MAX = 20000
_PASSES_ON = ("Identity", "Cast", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "EnsureShape")
_FLOORS = ("Maximum", "Relu")
_GIVEN = ("Placeholder", "IteratorGetNext")
_DIFFERENCES = ("Sub", "SquaredDifference")
_CROSS_ENTROPIES = ("SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")


@quiet
def look(graph, channel, step, by_hand):
    """Tells of an error by hand that compares every output with every target, of a margin by hand, and of a softmax before a cross-entropy.

    `by_hand`: nobody else tells of how many classes a loss has.
    """
    margins = 0
    for operation in graph.get_operations()[:_OPERATIONS_MAX]:
        if operation.type in _FLOORS and not margins and any(_is_margin(tensor) for tensor in operation.inputs):
            margins += 1
            channel.observe("loss-call", step, function="margin_by_hand", call=1, by_hand=True, grad_enabled=True)
        elif operation.type in _DIFFERENCES:
            if _compares_all(*operation.inputs):
                channel.observe("broadcast-difference", step, output_shape="Nx1", shape="NxN")
        elif operation.type in _CROSS_ENTROPIES and origin(operation.inputs[0]).type == "Softmax":
            classes = operation.inputs[0].shape[-1]
            facts = {"function": "cross_entropy", "sums_to_one": True, "classes": classes, "grad_enabled": True}
            for call in (1, 2):  # It stands in the graph: every call is like that.
                channel.observe("loss-call", step, call=call, **facts)
        elif operation.type in _CROSS_ENTROPIES and by_hand and operation.inputs[0].shape.rank == 2:
            channel.observe("loss-call", step, function="cross_entropy", call=1, classes=operation.inputs[0].shape[-1], grad_enabled=True)


def _is_margin(tensor):
    """1 - label * output, of labels as they were given from outside."""
    difference = origin(tensor)
    if difference.type != "Sub":
        return False
    one, product = (origin(part) for part in difference.inputs)
    if one.type != "Const" or product.type != "Mul":
        return False
    return sum(origin(factor).type in _GIVEN for factor in product.inputs) == 1


def _compares_all(one, other):
    """Whether targets [N], given from outside, meet outputs [N, 1]."""
    for targets, outputs in ((one, other), (other, one)):
        if targets.shape.rank == 1 and outputs.shape.rank == 2 and outputs.shape[1] == 1:
            same = targets.shape[0] == outputs.shape[0] and targets.shape[0] != 1  # Both may be unknown.
            if same and origin(targets).type == "Placeholder" and origin(outputs).type != "Placeholder":
                return True
    return False


def origin(tensor):
    """The operation that made it, behind those that only pass it on."""
    operation = tensor.op
    for _ in range(20):
        if operation.type not in _PASSES_ON or not operation.inputs:
            break
        operation = operation.inputs[0].op
    return operation
