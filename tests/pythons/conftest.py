"""One test for each CPython of this machine (tests/found_pythons.py)."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
TIMEOUT = 240  # Seconds after which the test itself hangs; no test depends on how long anything takes.
sys.path[1:1] = [str(ROOT / "tests"), str(ROOT / "tests" / "probe")]  # What all folders share, and the table of ends.

from found_pythons import found_pythons  # noqa: E402

PYTHONS = found_pythons()


class Python:
    """One of them."""

    def __init__(self, name: str):
        self.path = PYTHONS[name]
        self.version = name.split()[0]
        self.minor = int(self.version.split(".")[1])
        self.free_threaded = self.version.endswith("t")


@pytest.fixture(params=PYTHONS, ids=lambda name: name.replace("/", "-"))
def python(request) -> Python:
    return Python(request.param)
