"""Tests of the ring writers: both write the same records, byte for byte but for clock and checksum.

Run with any Python from 3.8 on: PYTHONPATH=build/python python -m unittest whystop_probe.core.ring_test
"""

import array
import glob
import math
import os
import struct
import tempfile
import unittest
import unittest.mock
import zlib

from whystop_probe import core
from whystop_probe.core import pure_ring, ring


class Slots:
    """The records of the only ring in a directory, as (kind, flags, part, parts, body), and its header."""

    def __init__(self, directory):
        (path,) = glob.glob(os.path.join(directory, "*.ring"))
        with open(path, "rb") as file:
            self.bytes = file.read()
        (self.head,) = struct.unpack_from("<Q", self.bytes, 128)
        self.slot_count = struct.unpack_from("<I", self.bytes, 12)[0]
        self.pid = struct.unpack_from("<q", self.bytes, 16)[0]
        self.ranks = struct.unpack_from("<iii", self.bytes, 40)
        self.flags = struct.unpack_from("<I", self.bytes, 56)[0]
        self.records = []
        for sequence in range(1, self.head + 1):
            at = 4096 + 128 * ((sequence - 1) % self.slot_count)
            stored, crc, kind, flags, part, parts, _ = struct.unpack_from("<QIBBBBQ", self.bytes, at)
            assert stored == sequence
            slot = self.bytes[at : at + 8] + bytes(4) + self.bytes[at + 12 : at + 128]
            assert not flags & 1 or zlib.crc32(slot) == crc
            self.records.append((kind, flags & ~1, part, parts, self.bytes[at + 24 : at + 128]))


def write_everything(writer):
    writer.set_flags(ring.FLAG_PROBE)
    writer.progress(1, 10.5, None, 500)
    writer.phase("train")
    writer.step(1, 0.5, 1e-3, None, 0.01, 0)
    writer.step(2, math.nan, None, 0.1, None, ring.STEP_SKIPPED)
    writer.step(3, 1, 2, 3, 4, ring.STEP_LAST_ONLY)
    writer.scalar("val_ä", ring.ROLE_VALIDATION_SCORE, None, 0.25)
    writer.scalar("n" * 300, ring.ROLE_OTHER, 7, math.inf)
    writer.stats(ring.WHAT_GRADIENT, "val_ä", 2, tuple(range(15)))
    writer.observe("loop-exit", 2, {"line": 31, "file": "train.py", "text": "ä" * 9000, "late": 1.0})
    writer.observe("odd", 1, {"none": None, "flag": True, "list": [], "x": 1})
    writer.observe("plain", None, {"k%d" % i: i for i in range(70)})
    writer.observe("lone surrogate \udc80", -5, {"\udc80": "\udc80"})
    writer.phase("p" * 100)


class Number:
    """One of the user's own; reading one of them may meet what a signal handler raises, or fail."""

    raises = None  # An exception, and which reading it meets.
    readings = 0

    def __float__(self):
        Number.readings += 1
        if Number.raises and Number.readings == Number.raises[1]:
            raise Number.raises[0]
        return 1.0

    __index__ = __int__ = lambda self: int(float(self))


def write_numbers(writer):
    """Every method whose arguments are numbers, with nothing but Numbers."""
    one = Number()
    return {
        "step": lambda: writer.step(one, one, one, one, one, one),
        "scalar": lambda: writer.scalar("x", one, one, one),
        "progress": lambda: writer.progress(one, one, one, one),
        "stats": lambda: writer.stats(one, "x", one, (one,) * 15),
        "observe": lambda: writer.observe("kind", one, {"a": one, "b": one, "c": one}),
        "set_flags": lambda: writer.set_flags(one),
        "set_rank": lambda: writer.set_rank(one, one),
    }


class WriterTests:
    """What holds for both writers."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        os.environ["WHYSTOP_RING_DIR"] = self.directory.name
        os.environ["WHYSTOP_RING_SLOTS"] = "1024"
        os.environ["RANK"] = "3"
        self.writer = self.open()

    def tearDown(self):
        self.writer.close()
        for name in ("WHYSTOP_RING_DIR", "WHYSTOP_RING_SLOTS", "RANK"):
            os.environ.pop(name, None)
        self.directory.cleanup()

    def slots(self):
        return Slots(self.directory.name)

    def test_header_tells_who_writes(self):
        slots = self.slots()
        self.assertEqual(slots.bytes[:8], b"WSRING1\n")
        self.assertEqual(slots.pid, os.getpid())
        self.assertEqual(slots.ranks, (3, -1, -1))
        self.assertEqual(slots.slot_count, 1024)
        self.writer.set_rank(1, 4)
        self.writer.set_rank("1", None)
        self.assertEqual(self.slots().ranks, (1, -1, 4))
        name = os.path.basename(glob.glob(self.directory.name + "/*.ring")[0])
        self.assertEqual(name, "%d-%d.ring" % (os.getpid(), pure_ring._start_ticks()))

    def test_wrong_arguments_never_raise(self):
        write = self.writer
        write.step("one", 1, 1, 1, 1, 0)
        write.step(1, object(), 1, 1, 1, 0)
        write.step(2**70, 1, 1, 1, 1, 0)
        write.scalar(None, 0, 1, 1.0)
        write.scalar("x", 0, 1, "text")
        write.progress("a", None, None, None)
        write.phase(5)
        write.stats(1, "w", 1, (1, 2, 3))
        write.stats(1, "w", 1, ["x"] * 15)
        write.observe("kind", "step", {})
        write.observe("kind", 1, None)
        self.writer.step(9, 1.0, None, None, None, 0)
        steps = [record for record in self.slots().records if record[0] == pure_ring.KIND_STEP]
        self.assertEqual([struct.unpack_from("<q", body)[0] for *_, body in steps], [9])

    def test_an_exception_while_numbers_are_read_passes_if_it_is_the_users_and_not_otherwise(self):
        """At every reading of a number in turn: an interrupt comes out as it is, a number that cannot be read costs its record."""
        for name, write in write_numbers(self.writer).items():
            for at in range(1, 30):
                for raised in (KeyboardInterrupt("mine"), SystemExit(3), ValueError("no number")):
                    with self.subTest(method=name, reading=at, raised=raised):
                        Number.raises, Number.readings = (raised, at), 0
                        caught = None
                        try:
                            self.assertIsNone(write())
                        except BaseException as met:
                            caught = met
                        finally:
                            Number.raises = None
                        expected = raised if Number.readings >= at and not isinstance(raised, Exception) else None
                        self.assertIs(caught, expected)

    def test_a_forked_child_is_silent(self):
        self.writer.step(1, 1.0, None, None, None, 0)
        child = os.fork()
        if child == 0:
            self.writer.step(666, 1.0, None, None, None, 0)
            os._exit(1 if self.writer.alive() else 0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(self.writer.alive())
        self.assertEqual(self.slots().head, 1)

    def test_closing_is_on_record(self):
        self.writer.set_flags(ring.FLAG_FRAMEWORK)
        self.writer.close()
        self.assertFalse(self.writer.alive())
        self.writer.step(1, 1.0, None, None, None, 0)
        self.writer.close()
        self.assertEqual(self.slots().flags, ring.FLAG_FRAMEWORK | 1)

    def test_names_are_repeated_when_the_ring_goes_on(self):
        for step in range(1000):
            self.writer.scalar("norm", ring.ROLE_GRADIENT_NORM, step, 1.0)
        names = sum(record[0] == pure_ring.KIND_NAME for record in self.slots().records)
        self.assertEqual(names, 4)


class PureWriterTest(WriterTests, unittest.TestCase):
    open = staticmethod(pure_ring.open_pure_writer)


@unittest.skipIf(ring.native is None, "the extension is not built")
class NativeWriterTest(WriterTests, unittest.TestCase):
    def open(self):
        return ring.native.open_writer()

    def test_both_writers_write_the_same(self):
        write_everything(self.writer)
        with tempfile.TemporaryDirectory() as other:
            os.environ["WHYSTOP_RING_DIR"] = other
            pure = pure_ring.open_pure_writer()
            write_everything(pure)
            ours, theirs = self.slots(), Slots(other)
            pure.close()
        self.assertEqual(len(ours.records), len(theirs.records))
        for mine, pures in zip(ours.records, theirs.records):
            if mine[0] in (pure_ring.KIND_NAME, pure_ring.KIND_SCALAR, pure_ring.KIND_STATS) and mine[2] == 0:
                mine, pures = (list(mine[:4]) + [mine[4][8:]], list(pures[:4]) + [pures[4][8:]])  # Ids differ.
            self.assertEqual(mine, pures)
        self.assertEqual(ours.flags, theirs.flags)
        for at in (256, 384):
            self.assertEqual(ours.bytes[at + 24 : at + 128], theirs.bytes[at + 24 : at + 128])


@unittest.skipIf(ring.native is None, "the extension is not built")
class TensorStatsTest(unittest.TestCase):
    def test_facts_of_several_tensors(self):
        floats = array.array("f", [1.0, -2.0, 0.0, math.nan, math.inf] * 10000)
        doubles = array.array("d", [1e200, 0.5])
        got = ring.tensor_stats(
            [(*floats.buffer_info(), ring.DTYPE_F32), (*doubles.buffer_info(), ring.DTYPE_F64), (0, 0, ring.DTYPE_F16)]
        )
        below = (10000, 10000, 10000, 10000, 20000, 30000)
        self.assertEqual(got[0], (50000, 10000, 10000, 10000, -2.0, 1.0, -10000.0, 50000.0, 2.0) + below)
        self.assertEqual(got[1][:9], (2, 0, 0, 0, 0.5, 1e200, 1e200, math.inf, 1e200))
        self.assertEqual(got[2][0], 0)

    def test_nonsense_is_refused(self):
        for nonsense in (None, [None], [(0, 0, 9)], [(0, -1, 0)], [("x", 1, 0)]):
            with self.assertRaises((TypeError, ValueError)):
                ring.tensor_stats(nonsense)


class OpenTest(unittest.TestCase):
    def test_without_a_directory_there_is_no_writer(self):
        os.environ.pop("WHYSTOP_RING_DIR", None)
        self.assertIsNone(ring.open_writer())
        self.assertIsNone(pure_ring.open_pure_writer())

    def test_a_missing_directory_is_no_error(self):
        os.environ["WHYSTOP_RING_DIR"] = "/nonexistent/place"
        try:
            self.assertIsNone(ring.open_writer())
            self.assertIsNone(pure_ring.open_pure_writer())
        finally:
            del os.environ["WHYSTOP_RING_DIR"]


class NativeTest(unittest.TestCase):
    """Which extension is loaded."""

    def test_a_build_without_the_gil_uses_the_pure_part(self):
        for fake in ({"abiflags": "t"}, {"_is_gil_enabled": lambda: False}):
            with unittest.mock.patch.multiple(ring.sys, create=True, **fake):
                self.assertTrue(ring._is_free_threaded())
                self.assertIsNone(ring._load_native())
        self.assertEqual(ring._is_free_threaded(), "t" in getattr(ring.sys, "abiflags", ""))

    def test_an_isolated_python_loads_nothing_that_the_environment_names(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "_native.abi3.so"), "w").close()
            loaded = []
            kept = vars(core).pop("_native", None)  # Else the package still knows the one that was loaded.
            self.addCleanup(lambda: kept and setattr(core, "_native", kept))
            with unittest.mock.patch.dict(os.environ, {"WHYSTOP_NATIVE_DIR": folder}), unittest.mock.patch.dict(
                "sys.modules", {"whystop_probe.core._native": None}
            ), unittest.mock.patch("importlib.machinery.ExtensionFileLoader", side_effect=lambda *given: loaded.append(given)):
                os.environ.pop("WHYSTOP_NO_NATIVE", None)
                self.assertIsNone(ring._load_native())
                self.assertEqual(len(loaded), 0 if ring._is_free_threaded() else 1, "it is asked for where it may be")
                with unittest.mock.patch.object(ring.sys, "flags", unittest.mock.Mock(ignore_environment=1)):
                    self.assertIsNone(ring._load_native())
                self.assertEqual(len(loaded), 0 if ring._is_free_threaded() else 1, "and not where it may not")


if __name__ == "__main__":
    unittest.main()
