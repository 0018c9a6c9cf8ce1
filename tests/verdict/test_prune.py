"""What `whystop prune` deletes, and what it never touches."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest
from conftest import WHYSTOP

DAY = 86400


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + masked(length) + body + masked(body)


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


class Home:
    """A home of recordings, some of which began days ago."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.folder.mkdir()
        self.environment = {**os.environ, "WHYSTOP_HOME": str(folder)}

    def call(self, *arguments):
        return subprocess.run([WHYSTOP, *arguments], capture_output=True, text=True, check=False, env=self.environment)

    def add(self, name: str, days_ago: float, bytes_more: int = 0) -> pathlib.Path:
        """A recording as docs/format.md has it: a header, a start of that time, and no end."""
        wall_ns = int((time.time() - days_ago * DAY) * 1e9)
        start = b"\x0a\x01x" + b"\x1a\x0celsewhere-42" + b"\x40" + varint(wall_ns)  # command, host, wall_ns
        path = self.folder / name
        path.mkdir(mode=0o700)
        events = frame(b"\x12\x02\x08\x01") + frame(b"\x1a" + varint(len(start)) + start)
        (path / "events.tfrecord").write_bytes(events)
        (path / "tail-0.tfrecord").write_bytes(os.urandom(bytes_more))
        (path / "lock").write_text("1\n")
        rings = path / "rings"
        rings.mkdir()
        (rings / "7-1.ring").write_bytes(bytes(4096))
        for file in path.iterdir():  # Nobody wrote into it since.
            os.utime(file, (time.time() - days_ago * DAY,) * 2)
        return path

    @property
    def names(self) -> set:
        return {path.name for path in self.folder.iterdir() if path.name != "latest"}


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def aged(home):
    for name, days_ago in (("a", 40), ("b", 31), ("c", 29), ("d", 2)):
        home.add(name, days_ago, 1 << 20)
    return home


def test_without_a_limit_nothing_is_deleted(aged):
    done = aged.call("prune")
    assert done.returncode == 2 and "--older" in done.stderr
    assert aged.names == {"a", "b", "c", "d"}


@pytest.mark.parametrize("wrong", [["--older", "old"], ["--max-size", "-1"], ["--keep", "-1"], ["--keep", "some"]])
def test_a_limit_that_is_none_is_refused(aged, wrong):
    assert aged.call("prune", *wrong).returncode == 2
    assert aged.names == {"a", "b", "c", "d"}


@pytest.mark.parametrize("limits,left", [
    (["--older", "30d"], {"c", "d"}),
    (["--older", "1d"], set()),
    (["--older", "30d", "--keep", "3"], {"b", "c", "d"}),
    (["--keep", "1"], {"d"}),
    (["--keep", "9"], {"a", "b", "c", "d"}),
    (["--keep", "0"], set()),
    (["--max-size", "2.5M"], {"c", "d"}),
    (["--max-size", "0", "--keep", "1"], {"d"}),
    (["--max-size", "1G"], {"a", "b", "c", "d"}),
])
def test_it_deletes_what_was_asked_for_and_says_so(aged, limits, left):
    told = json.loads(aged.call("prune", "--dry-run", "--json", *limits).stdout)
    assert aged.names == {"a", "b", "c", "d"}
    done = aged.call("prune", *limits)
    assert (done.returncode, done.stderr) == (0, "")
    assert aged.names == left
    gone = {"a", "b", "c", "d"} - left
    assert {one["run"] for one in told["deleted"]} == gone
    assert told["bytes"] == sum(one["bytes"] for one in told["deleted"]) >= len(gone) << 20
    assert [line.split()[1] for line in done.stdout.splitlines()[:-1]] == sorted(gone)
    assert done.stdout.splitlines()[-1].startswith(f"{len(gone)} recording")


def test_a_live_recording_stays(home):
    job = subprocess.Popen([WHYSTOP, "run", "-q", "--dir", home.folder / "live", "--", "sh", "-c", "echo up; read x"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    job.stdout.readline()
    done = home.call("prune", "--keep", "0")
    files = {path.name for path in (home.folder / "live").iterdir()}
    job.communicate(b"\n")
    assert done.returncode == 0 and "1 of them still being written" in done.stdout
    assert "events.tfrecord" in files and "rings" in files
    assert json.loads(home.call("why", "--json", home.folder / "live").stdout)["outcome"] == "completed"
    assert home.call("prune", "--keep", "0").returncode == 0
    assert home.names == set()


def test_a_job_that_outlived_whystop_keeps_its_recording(home):
    job = subprocess.Popen([WHYSTOP, "run", "-q", "--dir", home.folder / "orphan", "--", sys.executable, "-c",
                            "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    trainee = int(job.stdout.readline())
    keeper = int((home.folder / "orphan" / "lock").read_text())
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    for process in {keeper} - {job.pid}:
        os.kill(process, signal.SIGKILL)
    still = home.call("prune", "--keep", "0")
    assert os.path.exists(f"/proc/{trainee}") and home.names == {"orphan"}, still.stdout
    os.kill(trainee, signal.SIGKILL)


def test_a_recording_of_another_machine_is_finished_when_it_has_been_silent(home):
    home.add("silent", 1)
    home.add("fresh", 1)
    os.utime(home.folder / "fresh" / "events.tfrecord")
    home.call("prune", "--keep", "0")
    assert home.names == {"fresh"}


def test_nothing_but_recordings_is_touched_and_no_link_is_followed(home, tmp_path):
    elsewhere = home.add("elsewhere", 40).rename(tmp_path / "elsewhere")
    (home.folder / "linked").symlink_to(elsewhere)
    (home.folder / "results").mkdir()
    (home.folder / "results" / "model.pt").write_text("weights")
    (home.folder / "notes.txt").write_text("mine")
    mixed = home.add("mixed", 40)
    (mixed / "model.pt").write_text("weights")
    (mixed / "state").write_text("mine")
    (mixed / "trials").mkdir()
    (mixed / "trials" / "table.csv").write_text("mine")
    (mixed / "late-0.tfrecord").symlink_to(elsewhere / "events.tfrecord")
    (mixed / "rings" / "8-1.ring").symlink_to(elsewhere / "events.tfrecord")
    through = home.add("through", 40)
    for file in (through / "rings").iterdir():
        file.unlink()
    (through / "rings").rmdir()
    (through / "rings").symlink_to(elsewhere / "rings")
    done = home.call("prune", "--keep", "0")
    assert "holds files that are not whystop's" in done.stderr
    assert home.names == {"linked", "results", "notes.txt", "mixed", "through"}
    assert {path.name for path in mixed.iterdir()} == {"model.pt", "state", "trials", "late-0.tfrecord", "rings"}
    assert (mixed / "trials" / "table.csv").read_text() == "mine"
    assert {path.name for path in elsewhere.iterdir()} == {"events.tfrecord", "tail-0.tfrecord", "lock", "rings"}
    assert (elsewhere / "rings" / "7-1.ring").exists()


def test_earlier_recordings_and_trials_go_with_their_recording(home):
    path = home.add("a", 40)
    home.add("earlier", 40).rename(path / "earlier-1")
    (path / "trials").mkdir()
    trial = home.add("trial", 40).rename(path / "trials" / "01-as-is")
    (trial / "trial").write_text("as-is")
    (trial / "state").write_text("x")
    assert home.call("prune", "--keep", "0").returncode == 0
    assert home.names == set()


def test_the_newest_that_is_left_is_the_default_again(home):
    for status in (3, 4):
        home.call("run", "-q", "--", "sh", "-c", f"exit {status}")
    newest = json.loads(home.call("runs", "--json").stdout.splitlines()[-1])
    done = home.call("prune", "--keep", "1")
    assert "1 recording deleted" in done.stdout
    assert json.loads(home.call("why", "--json").stdout)["exit"]["code"] == 4
    home.call("prune", "--keep", "0")
    assert home.call("why").returncode == 2
    assert not os.path.lexists(home.folder / "latest") and not os.path.exists(newest["path"])
