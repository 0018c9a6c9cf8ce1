"""Tests of the feed: the extension's and the one in Python make the same steps of the same batches.

Run with any Python from 3.9 on: PYTHONPATH=build/python python -m unittest whystop_probe.core.feed_test
"""

import math
import os
import tempfile
import unittest

from whystop_probe.core import feed, pulse, pure_ring, ring
from whystop_probe.core.ring_test import Slots


class Stepper:
    def __init__(self):
        self.param_groups = [{"lr": 0.1}]


class Raising:
    """A value whose reading raises."""

    def __init__(self, raised):
        self.raised = raised

    def __float__(self):
        raise self.raised


KINDS = {"pure": (pulse.PurePulse, feed.PureFeed, feed.PureFeeds, feed.PureGate, pure_ring.open_pure_writer)}
if ring.native is not None:
    KINDS["native"] = (ring.native.Pulse, ring.native.Feed, ring.native.Feeds, ring.native.Gate, ring.native.open_writer)


def batches(feeds, *rows):
    for batch, logs in rows:
        feeds.batch_end(None, batch, logs)
        feeds.logs_read(logs)
        feeds.logs_read(logs)  # Callbacks may have logs turned into numbers once more.


def whole_training(make_pulse, make_feed, make_feeds, open_writer):
    """(step, loss) of all records, what was told of losses that are no numbers, and the counters at the end."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ["WHYSTOP_RING_DIR"] = directory
        try:
            writer = open_writer()
        finally:
            del os.environ["WHYSTOP_RING_DIR"]
        heart, told = make_pulse(), []
        heart.set_writer(writer)
        heart.not_first = heart.set_first
        heart.nonfinite_loss = lambda value, root: told.append((str(value), root))
        heart.attention_at = 1 << 40
        feeds, stepper = make_feeds(), Stepper()
        batches(feeds, (0, {"loss": 9.0}))  # Nobody trains.
        feeds.current = make_feed(heart, stepper)
        feeds.current.begin_epoch(4, 2, 2)
        batches(feeds, (0, {"loss": 1.0}), (1, {"loss": 2.0}), (2, {"loss": 2.2}))
        feeds.current.begin_epoch(0, 0, 0)
        batches(feeds, (0, {"loss": 1.0}), (2, {"loss": 2.0}), (3, {}), (4, None), (5, {"loss": "none"}), (6, {"loss": math.nan}))
        batches(feeds, ("odd", {"loss": 1.5}))
        feeds.current.begin_epoch(0, 0, 0)
        feeds.current.own = True
        batches(feeds, (0, {"loss": 5.0}), (1, {"loss": 6.0}))
        feeds.current.own = False
        feeds.current.begin_epoch(0, 0, 0)
        feeds.current.planned = 9
        batches(feeds, (3, {"loss": 5.0}), (7, {"loss": 5.0}), (11, {"loss": 5.0}))
        feeds.current.planned = 0
        feeds.current.begin_epoch(0, 0, 0)
        feeds.current.late = True
        batches(feeds, (0, {"loss": 4.0}), (1, {"loss": 2.0}), (2, {"loss": math.inf}))
        feeds.current.take_pending()
        feeds.current.take_pending()
        done = feeds.current.batches
        feeds.current = None
        writer.close()
        records = []
        for kind, _, _, _, body in Slots(directory).records:
            if kind == pure_ring.KIND_STEP:
                step, loss, _, _, _, _, present = pure_ring._step.unpack_from(body)
                records.append(("step", step, str(loss) if present & 1 else None))
            elif kind == pure_ring.KIND_SCALAR:
                records.append(("scalar", bytes(body[8:24]).hex()))
        return records, told, (heart.step, heart.steps, heart.backwards, heart.batches, done)


class FeedTest(unittest.TestCase):
    def test_both_make_the_same_steps(self):
        found = {name: whole_training(*kind[:3], kind[4]) for name, kind in KINDS.items()}
        for name, got in found.items():
            with self.subTest(kind=name):
                self.assertEqual(got, found["pure"])
        records, told, counts = found["pure"]
        self.assertEqual([loss for kind, *_, loss in records if kind == "step"][:3], ["1.0", "3.0", "3.0"])
        self.assertEqual([loss for kind, *_, loss in records if kind == "step"][-8:-3], ["5.0", "6.0", "5.0", "5.0", "5.0"])
        self.assertEqual([record[1] for record in records if record[0] == "step"][:5], [1, 2, 3, 4, 6])
        self.assertEqual(sum(record[0] == "scalar" for record in records), 3)
        self.assertEqual([value for value, _ in told], ["nan", "inf"])
        self.assertEqual(counts, (25, 25, 25, 25, 3))

    def test_numbers_that_no_epoch_has_are_harmless(self):
        for name, (make_pulse, make_feed, make_feeds, *_) in KINDS.items():
            with self.subTest(kind=name):
                feeds = make_feeds()
                feeds.current = make_feed(make_pulse(), Stepper())
                for sizes in ((8, 0, 0), (8, 3, 5), (0, 0, 0)):
                    feeds.current.begin_epoch(*sizes)
                    batches(feeds, (0, {"loss": 1.0}), (1 << 50, {"loss": 2.0}), (-7, {"loss": 1.0}), (1 << 70, {"loss": 1.0}))

    def test_what_is_raised_while_losses_are_read_passes_if_it_is_the_users(self):
        """Where the loss is read at once, with the next batch, and at the end; an ordinary fault costs the loss alone."""

        def read_at_once(feeds, logs):
            feeds.batch_end(None, 0, None)
            feeds.logs_read(logs)

        def read_with_the_next_batch(feeds, logs):
            feeds.current.late = True
            feeds.batch_end(None, 0, logs)
            feeds.batch_end(None, 1, {})

        def read_at_the_end(feeds, logs):
            feeds.current.late = True
            feeds.batch_end(None, 0, logs)
            feeds.current.take_pending()

        for name, (make_pulse, make_feed, make_feeds, *_) in KINDS.items():
            for way in (read_at_once, read_with_the_next_batch, read_at_the_end):
                for raised in (KeyboardInterrupt("mine"), SystemExit(3), ValueError("no number")):
                    with self.subTest(kind=name, way=way.__name__, raised=raised):
                        feeds, heart, caught = make_feeds(), make_pulse(), None
                        heart.not_first, heart.attention_at = heart.set_first, 1 << 40
                        feeds.current = make_feed(heart, Stepper())
                        try:
                            way(feeds, {"loss": Raising(raised)})
                        except BaseException as met:
                            caught = met
                        self.assertIs(caught, None if isinstance(raised, Exception) else raised)

    def test_a_gate_lets_through_while_it_is_open(self):
        for name, (_, _, _, make_gate, _) in KINDS.items():
            with self.subTest(kind=name):
                told = []
                gate = make_gate(lambda *arguments: told.append(arguments))
                gate(1)
                gate.open = True
                gate(2, 3)
                gate.open = False
                gate(4)
                self.assertEqual(told, [(2, 3)])


if __name__ == "__main__":
    unittest.main()
