"""Tests of the governor: how often something is done, by what it costs and what the steps earn.

Run with any Python from 3.9 on: PYTHONPATH=build/python python -m unittest whystop_probe.core.governor_test
"""

import unittest

from whystop_probe.core.attention import Attention
from whystop_probe.core.governor import Governor
from whystop_probe.core.pulse import Pulse


class Delay:
    """Stands for the kernel's figure of the time in which other programs had the processor."""

    def __init__(self):
        self.now = 0.0

    def seconds(self):
        return self.now


class Training:
    def __init__(self):
        self.pulse = Pulse()
        self.governor = Governor(self.pulse, share=0.003, early_share=0.003)
        self.governor._delay = self.delay = Delay()
        self.governor._pace_then = (0.0, 0.0, 0)

    @property
    def step(self):
        return self.pulse.step


def pace_of(training, elapsed_s, delay_s, steps):
    training.pulse.elapsed_s += elapsed_s
    training.delay.now += delay_s
    training.pulse.step += steps
    training.governor.keep_pace()


class StepsBetween(unittest.TestCase):
    def test_costs_are_spread_over_the_steps_that_earn_them(self):
        training = Training()
        training.governor.spend("work", 1, 30e-6)
        pace_of(training, 1.0, 0.0, 1000)
        self.assertAlmostEqual(training.governor.steps_between("work", 0.1), 100, delta=1)

    def test_where_steps_earn_nothing_work_is_rare_and_not_done_at_each(self):
        training = Training()
        training.governor.spend("work", 1, 30e-6)
        pace_of(training, 1.0, 2.0, 1000)
        self.assertGreaterEqual(training.governor.steps_between("work", 0.1), 1000)

    def test_what_was_never_done_is_done_at_once(self):
        training = Training()
        pace_of(training, 1.0, 2.0, 1000)
        self.assertEqual(training.governor.steps_between("work", 0.1), 0)

    def test_a_pause_of_the_probe_is_not_the_training_waiting(self):
        training = Training()
        training.governor.spend("work", 1, 30e-6)
        training.governor.pause(True)
        training.delay.now += 5.0
        training.governor.pause(True)
        training.governor.pause(False)
        training.governor.pause(False)
        pace_of(training, 1.0, 0.0, 1000)
        self.assertAlmostEqual(training.governor.steps_between("work", 0.1), 100, delta=1)


class AttentionIsPaced(unittest.TestCase):
    def test_it_counts_what_its_own_books_cost(self):
        training = Training()
        attention = Attention(training, lambda optimizer, now: False)
        attention._keeping_s = 1.0  # Of the time before.
        training.pulse.step = 1000
        training.pulse.duration_s = 0.001
        attention._attend(None, 0.0)
        self.assertGreaterEqual(training.governor.cost("attention"), 1.0)
        self.assertEqual(training.pulse.attention_at, 1000 + 1 + 256)

    def test_who_wants_the_next_step_gets_it(self):
        training = Training()
        attention = Attention(training, lambda optimizer, now: True)
        training.pulse.step = 1000
        attention._attend(None, 0.0)
        self.assertEqual(training.pulse.attention_at, 1001)


if __name__ == "__main__":
    unittest.main()
