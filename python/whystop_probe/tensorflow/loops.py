"""Loops written by hand around tf.GradientTape, run as they are or inside a tf.function."""

import sys

from whystop_probe.core.tap import tap
from whystop_probe.tensorflow import graphs
from whystop_probe.tensorflow.functions import Functions

_families = []  # (loops, Functions) of each family of optimizers: a process may use both of Keras's.


def attach(loops, apply, unpack):
    """`loops` is told of gradients and steps; `apply` is the optimizers' function that makes one, and `unpack` makes lists of gradients and
    variables of what it was given."""
    functions = Functions(loops.stepped_in_graph)
    tensorflow = sys.modules["tensorflow"]

    def after_apply(result, optimizer, *given):
        if tensorflow.executing_eagerly():
            loops.after_apply(optimizer, *unpack(*given))
        elif loops.outside_of_fit():
            functions.traced(optimizer)
            graphs.look(tensorflow.compat.v1.get_default_graph(), loops.channel, loops.step)

    tap(apply, after=after_apply)
    if not _families:
        tap(sys.modules["tensorflow.python.eager.backprop"].GradientTape.gradient, after=_after_gradient)
        tap(sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"].Function.__call__, after=_after_call)
    _families.append((loops, functions))


def _after_gradient(result, tape, target, *rest):
    for loops, _ in _families:
        loops.after_gradient(result, target)


def _after_call(result, function, *rest):
    for _, functions in _families:
        functions.called(result, function)
