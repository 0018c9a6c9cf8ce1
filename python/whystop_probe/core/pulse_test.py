"""Tests of the pulse: the extension's and the one in Python tell the same of the same training.

Run with any Python from 3.9 on: PYTHONPATH=build/python python -m unittest whystop_probe.core.pulse_test
"""

import math
import os
import tempfile
import unittest

from whystop_probe.core import pulse as pulse_module
from whystop_probe.core import pure_ring, ring
from whystop_probe.core.ring_test import Slots

LISTENERS = ("other_optimizer", "sampling", "attend", "take_late", "loop_event", "strange_loss", "nonfinite_loss", "look_at_loss", "look_at_batch")
STATE = ("step", "steps", "backwards", "zeroed_at", "batches", "loop_skip", "data_pending", "losses", "inside_step")


class Tensor:
    """As much of a tensor as the pulse asks for."""

    def __init__(self, *values, is_cpu=True):
        self.values = values
        self._is_cpu = is_cpu

    @property
    def is_cpu(self):
        return self._is_cpu

    def item(self):
        if len(self.values) != 1:
            raise RuntimeError("a Tensor with several elements cannot be converted to Scalar")
        return self.values[0]


class Optimizer:
    def __init__(self, lr):
        self.param_groups = [{"lr": lr}]


class Iterator:
    """Stands for a DataLoader's: it can be referred to weakly."""


class Course:
    """A training as a row of calls. Everything that the pulse tells is kept in `told`."""

    def __init__(self, pulse, writer, bell):
        self.told = []
        self.pulse = pulse
        pulse.set_writer(writer)
        pulse.tensor_type, pulse.item, pulse.is_cpu = Tensor, Tensor.item, Tensor.is_cpu
        for name in LISTENERS:
            setattr(pulse, name, self._listener(name))
        pulse.loss_due_at = 2
        pulse.not_first = self._not_first
        pulse.odd_rate = lambda rate: float(rate[0])
        pulse.other_iterator = self._listener("other_iterator")
        self.zero_grad = bell(pulse, pulse_module.ZERO_GRAD, "zero_grad", None)
        self._seen = []

    def _listener(self, name):
        def listen(*arguments):
            self.told.append((name, tuple(self._plain(argument) for argument in arguments)))

        return listen

    def _plain(self, argument):
        """The clock's readings differ from run to run, objects by their place in it."""
        if isinstance(argument, float):
            return "number" if math.isfinite(argument) else str(argument)
        if isinstance(argument, str):
            return argument
        if not any(argument is other for other in self._seen):
            self._seen.append(argument)
        return next(index for index, other in enumerate(self._seen) if other is argument)

    def _not_first(self, optimizer):
        self.told.append(("not_first", (self._plain(optimizer),)))
        if self.pulse.first() is None:
            self.pulse.set_first(optimizer)

    def step(self, optimizer, *losses):
        for loss in losses:
            self.pulse.before_backward(loss, None, None, False)
        self.pulse.before_step(optimizer, (), {})
        self.pulse.after_step(optimizer, (), {})

    def state(self):
        return {name: getattr(self.pulse, name) for name in STATE}


def whole_training(course):
    pulse, optimizer, other = course.pulse, Optimizer(0.1), Optimizer(0.2)
    pulse.attention_at = 3
    course.step(optimizer, Tensor(0.5))
    course.zero_grad(optimizer)
    course.step(optimizer, Tensor(0.5), Tensor(0.25))  # Gradients of two passes are added up.
    course.step(optimizer, [Tensor(1.0)])
    course.step(optimizer, Tensor(1.0, 2.0), [Tensor(1.0), Tensor(2.0)])  # No single loss.
    pulse.attention_at = 1 << 40
    pulse.before_step(optimizer, (), {})  # A closure: what it does first counts.
    pulse.before_backward(Tensor(3.0))
    pulse.before_backward(Tensor(2.0))
    pulse.after_step(optimizer, (), {})
    course.step(other, Tensor(7.0))
    course.step(optimizer, Tensor(math.nan), Tensor(math.inf))
    course.step(optimizer, Tensor(1.0, is_cpu=False))
    pulse.unscaled = Tensor(0.125)
    course.step(optimizer, Tensor(8192.0))
    optimizer.param_groups[0]["lr"] = [0.05]
    pulse.late_waiting = True
    course.step(optimizer)
    pulse.late_waiting = False
    pulse.loss_is_late()
    optimizer.param_groups = []
    course.step(optimizer)
    pulse.kinds, pulse.loop_skip = pulse_module.STEP | pulse_module.DATA | pulse_module.BACKWARD | pulse_module.ZERO_GRAD, 2
    for _ in range(4):
        course.zero_grad(optimizer)
        course.step(optimizer, Tensor(1.0))
    iterator = Iterator()
    for batch in range(3):
        pulse.before_next(iterator)
        pulse.data_due_in = 2
        pulse.after_next("batch", iterator)
    pulse.forget()
    course.step(other, Tensor(1.0))


def _open_native():
    return ring.native.open_writer()


class AgreementTest(unittest.TestCase):
    def run_course(self, make_pulse, make_bell, open_writer):
        """Everything told, the state at the end, and the records of the steps without their times."""
        with tempfile.TemporaryDirectory() as directory:
            os.environ["WHYSTOP_RING_DIR"] = directory
            try:
                writer = open_writer()
                course = Course(make_pulse(), writer, make_bell)
                whole_training(course)
                writer.close()
            finally:
                del os.environ["WHYSTOP_RING_DIR"]
            steps = []
            for kind, _, _, _, body in Slots(directory).records:
                if kind == pure_ring.KIND_STEP:
                    step, loss, rate, _, _, flags, present = pure_ring._step.unpack_from(body)
                    steps.append((step, str(loss), rate, flags, present))
            return course.told, course.state(), steps

    @unittest.skipIf(ring.native is None, "the extension is not there")
    def test_both_tell_the_same(self):
        native = self.run_course(ring.native.Pulse, ring.native.Bell, _open_native)
        pure = self.run_course(pulse_module.PurePulse, pulse_module.PureBell, pure_ring.open_pure_writer)
        for one, other in zip(native, pure):
            self.assertEqual(one, other)
        self.assertEqual(len(native[2]), 15)

    def test_what_a_listener_raises_passes_unchanged(self):
        """The user's signal handler may run in any listener: its exception, and no other, must come out of the hook."""
        makers = [(pulse_module.PurePulse, pulse_module.PureBell)]
        makers += [(ring.native.Pulse, ring.native.Bell)] if ring.native is not None else []
        for make_pulse, make_bell in makers:
            for name in (*LISTENERS, "not_first", "odd_rate", "other_iterator"):
                for kind in (KeyboardInterrupt, SystemExit, TimeoutError):
                    with self.subTest(pulse=make_pulse.__name__, listener=name, kind=kind.__name__):
                        raised = kind("the user's")

                        def listener(*arguments, raised=raised):
                            raise raised

                        pulse = make_pulse()
                        course = Course(pulse, None, make_bell)
                        pulse.tokens_s = 1.0
                        setattr(pulse, name, listener)
                        with self.assertRaises(kind) as caught:
                            whole_training(course)
                        self.assertIs(caught.exception, raised)

    def test_an_interrupt_while_a_loss_is_read_passes(self):
        for make_pulse in (pulse_module.PurePulse, ring.native.Pulse if ring.native is not None else pulse_module.PurePulse):
            for attribute in ("item", "is_cpu"):
                with self.subTest(pulse=make_pulse.__name__, attribute=attribute):
                    pulse = make_pulse()

                    def interrupted(tensor):
                        raise KeyboardInterrupt

                    class Rude(Tensor):
                        item = interrupted if attribute == "item" else Tensor.item
                        is_cpu = property(interrupted) if attribute == "is_cpu" else Tensor.is_cpu

                    pulse.tensor_type, pulse.item, pulse.is_cpu = Rude, Rude.item, Rude.is_cpu
                    with self.assertRaises(KeyboardInterrupt):
                        pulse.before_backward(Rude(1.0))

    def test_losses_of_a_step(self):
        _, _, steps = self.run_course(pulse_module.PurePulse, pulse_module.PureBell, pure_ring.open_pure_writer)
        losses = [loss for _, loss, _, _, present in steps if present & 1]
        self.assertEqual(losses[:4], ["0.5", "0.75", "1.0", "3.0"])


if __name__ == "__main__":
    unittest.main()
