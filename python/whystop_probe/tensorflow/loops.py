"""Loops written by hand around tf.GradientTape, run as they are or inside a tf.function."""

import sys

from whystop_probe.core.feed import Gate
from whystop_probe.core.tap import tap
from whystop_probe.tensorflow import graphs
from whystop_probe.tensorflow.functions import Functions

_families = []  # (loops, Functions) of each family of optimizers: a process may use both of Keras's.


def attach(loops, apply, unpack):
    """`loops` is told of gradients and steps; `apply` is the optimizers' function that makes one, and `unpack` makes lists of gradients and
    variables of what it was given."""
    functions = Functions(loops.stepped_in_graph)
    tensorflow = sys.modules["tensorflow"]

    def before_apply(optimizer, *given):
        """Ahead of it: those without a gradient are left out inside."""
        loops.gradients.given(optimizer, *unpack(*given))

    def after_apply(result, optimizer, *given):
        if tensorflow.executing_eagerly():
            loops.after_apply(optimizer, *unpack(*given))
            return
        by_hand = loops.outside_of_fit()
        if by_hand and functions.traced(optimizer):
            _after_call.open = True
        graphs.look(tensorflow.compat.v1.get_default_graph(), loops.channel, loops.step, by_hand)

    tap(apply, before=before_apply, after=after_apply)
    if not _families:
        tap(sys.modules["tensorflow.python.eager.backprop"].GradientTape.gradient, after=_after_gradient)
        tap(sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"].Function.__call__, after=_after_call)
    _families.append((loops, functions))


def _after_gradient(result, tape, target, sources, *rest):
    for loops, _ in _families:
        loops.gradients.made(sources)
        loops.after_gradient(result, target)


def _called(result, function, *rest):
    for _, functions in _families:
        functions.called(result, function)


_after_call = Gate(_called)  # Open once a function is known that steps: a `fit` in graph mode calls its own at every batch.
