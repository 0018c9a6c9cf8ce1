"""Every way in which a Python process can end, with the probe and without: the same status, the same bytes.

Goal: shells, make, schedulers and `timeout` act on how a program ended. The probe must not change that in any way, nor
what the program says on stdout and stderr.
Method: a table of small programs (ends.py). Each runs bare, under the probe of a process that does not train, and under the
probe of one that does: there a small module named torch makes the probe open its ring and install all that it has.
"""

import pathlib
import signal

import pytest

from ends import ENDS, WAYS, WAYS_ENDS, compare, end, fill


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("ends of programs")
    fill(made)
    return made


@pytest.mark.parametrize("trains", [False, True], ids=["no framework", "framework"])
def test_every_end_is_the_same(folder, trains):
    first = "import torch\n" if trains else ""
    compare(folder, [(name, first + text + "\n", "file") for name, text in ENDS.items()])


@pytest.mark.parametrize("way", [way for way in WAYS if way != "file"])
def test_however_the_program_is_given(folder, way):
    compare(folder, [(name, ENDS[name] + "\n", way) for name in WAYS_ENDS])


def test_the_table_shows_what_it_means(folder):
    """The ends themselves, so that a table of programs that all fail to start would be noticed."""
    assert end(folder, ENDS["interrupt"], True)[0] == -signal.SIGINT
    assert end(folder, ENDS["exit 3"], True)[0] == 3
    assert end(folder, ENDS["abort"], True)[0] == -signal.SIGABRT
    assert end(folder, ENDS["exception"], True)[2].endswith(b"ValueError: no\n")
    rings = pathlib.Path(folder / "rings")
    before = set(rings.iterdir())
    end(folder, "import torch\n" + ENDS["signal SIGTERM"], True)
    assert len(set(rings.iterdir()) - before) >= 1, "the small torch made the probe open no ring"
