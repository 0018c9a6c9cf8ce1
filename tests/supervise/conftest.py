"""Helpers for the supervisor's tests. WHYSTOP_BUILD names the build folder (default: build, beside tests/)."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

# pytest in the background of a shell or under nohup is started with these ignored, and so would be every job.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
RUN_JOB = BUILD / "run_job"
TIMEOUT = 300  # Seconds after which something hangs; no test depends on how long anything takes.


def kill_count():
    """How many random SIGKILLs of each process: 200 in `make test-all`, fewer in `make test`."""
    return int(os.environ.get("WHYSTOP_KILLS", "20"))


def wait_until(condition, what):
    """Returns the first true value of condition(); fails when it never comes."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    pytest.fail(f"never happened: {what}")


def stat_fields(pid):
    """The fields of /proc/PID/stat after the name: state, parent, group, session, ..."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2:].split()


def is_alive(pid):
    fields = stat_fields(pid)
    return fields is not None and fields[0] not in "ZX"


def children(pid):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = stat_fields(int(entry.name))
            if fields and int(fields[1]) == pid and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Recording:
    """What run_job's text writer left in its folder."""

    def __init__(self, folder):
        self.folder = folder

    def events(self):
        path = self.folder / "events"
        return path.read_text().splitlines() if path.exists() else []

    def find(self, pattern):
        return [line for line in self.events() if re.search(pattern, line)]

    def log(self, stream):
        path = self.folder / f"log.{stream}"
        return path.read_bytes() if path.exists() else b""

    def job_pid(self):
        starts = self.find("^process-start ")
        return int(starts[0].split("pid=")[1]) if starts else None


class Supervisor:
    def __init__(self, folder):
        self.folder = folder / "recording"
        self.recording = Recording(self.folder)
        self.started = []

    def command(self, *job):
        return [str(RUN_JOB), str(self.folder), *map(str, job)]

    def run(self, *job, **options):
        options.setdefault("timeout", TIMEOUT)
        options.setdefault("stdin", subprocess.DEVNULL)
        if "stdout" not in options and "stderr" not in options:
            options["capture_output"] = True
        return subprocess.run(self.command(*job), **options)

    def start(self, *job, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(self.command(*job), **options)
        self.started.append(process)
        return process

    def python(self, code):
        return [sys.executable, "-S", "-c", code]

    def keeper_of(self, front):
        def find():
            return [pid for pid in children(front) if name_of(pid) == "wskeeper"]
        return wait_until(find, "the keeper starts")[0]

    def job(self):
        return wait_until(self.recording.job_pid, "the job starts")

    def wait_for_end(self):
        return wait_until(lambda: self.recording.find("^end "), "the recording ends")[0]


@pytest.fixture
def supervisor(tmp_path):
    assert RUN_JOB.exists(), f"{RUN_JOB} is not built: ninja -C build run_job"
    made = Supervisor(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
    pid = made.recording.job_pid()
    if pid and is_alive(pid):
        os.kill(pid, signal.SIGKILL)
