"""Helpers for tests that run a job under the real binary and read its verdict."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

# pytest in the background of a shell or under nohup is started with these ignored, and so would be every job.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
TIMEOUT = 120  # Seconds after which something hangs; no test depends on how long anything takes.


class Watched:
    """A job that ran under whystop: its exit status, its output and whystop's verdict."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.done = None

    def run(self, *command, **options) -> "Watched":
        options.setdefault("stdin", subprocess.DEVNULL)
        self.done = subprocess.run(
            [WHYSTOP, "run", "--dir", self.folder, "--", *command],
            capture_output=True, timeout=TIMEOUT, check=False, **options,
        )
        return self

    def python(self, source: str, **options) -> "Watched":
        return self.run(sys.executable, "-c", source, **options)

    @property
    def verdict(self) -> dict:
        judged = subprocess.run(
            [WHYSTOP, "why", "--json", self.folder], capture_output=True, timeout=TIMEOUT, check=False
        )
        assert judged.returncode in (0, 1, 3), judged.stderr.decode()
        return json.loads(judged.stdout)

    @property
    def roots(self) -> list:
        return [cause["id"] for cause in self.verdict["causes"] if cause["role"] == "root"]

    @property
    def causes(self) -> list:
        return [cause["id"] for cause in self.verdict["causes"]]

    def events(self, kind: str) -> list:
        shown = subprocess.run(
            [WHYSTOP, "inspect", self.folder, "--kind", kind], capture_output=True, timeout=TIMEOUT, check=True
        )
        return [json.loads(line) for line in shown.stdout.splitlines()]


@pytest.fixture
def watched(tmp_path):
    return Watched(tmp_path / "recording")


@pytest.fixture
def memory_group():
    """A memory control group of 96 MiB; skips where none can be made."""
    tool = ROOT / "demo" / "memory_group.sh"
    made = subprocess.run([tool, "make", "96"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no right to make a memory control group: {made.stderr.strip()}")
    group = made.stdout.strip()
    yield [tool, "run", group]
    subprocess.run([tool, "remove", group], check=False)
