"""Loops written by hand around tf.GradientTape, run as they are or inside a tf.function."""

import sys

from whystop_probe.core.tap import tap
from whystop_probe.tensorflow import graphs
from whystop_probe.tensorflow.functions import Functions


def attach(loops, apply):
    """`loops` is told of gradients and steps; `apply` is the optimizers' function that makes one."""
    functions = Functions(loops.stepped_in_graph)
    tensorflow = sys.modules["tensorflow"]

    def after_apply(result, optimizer, gradients, variables=None):
        if tensorflow.executing_eagerly():
            loops.after_apply(optimizer, gradients, variables)
        elif loops.outside_of_fit():
            functions.traced(optimizer)
            graphs.look(tensorflow.compat.v1.get_default_graph(), loops.channel, loops.step)

    tap(apply, after=after_apply)
    tap(sys.modules["tensorflow.python.eager.backprop"].GradientTape.gradient, after=lambda result, tape, target, *rest: loops.after_gradient(result, target))
    function = sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"].Function
    tap(function.__call__, after=lambda result, called, *rest: functions.called(result, called))
