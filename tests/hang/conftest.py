"""Helpers for tests that let a real job stand still under the real binary and ask for the verdict while it does."""

import json
import os
import pathlib
import signal
import socket
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
WHYSTOP = BUILD / "whystop"
TIMEOUT = 240  # Seconds after which the test itself hangs; no test depends on how long anything takes.
HANG_AFTER = "1"


class Live:
    """A job under `whystop run`, while it lives and after."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder / "recording"
        self.work = folder
        self.process = None

    def start(self, *command, options=(), hang_after=HANG_AFTER, **more) -> "Live":
        more.setdefault("stdin", subprocess.DEVNULL)
        limit = ["--hang-after", hang_after] if hang_after else []
        self.process = subprocess.Popen(
            [WHYSTOP, "run", *limit, *options, "--dir", self.folder, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )
        return self

    def python(self, source: str, **more) -> "Live":
        program = self.work / "train program.py"
        program.write_text(source, encoding="utf-8")
        return self.start(sys.executable, program, **more)

    def verdict(self) -> dict:
        judged = subprocess.run(
            [WHYSTOP, "why", "--json", self.folder], capture_output=True, timeout=TIMEOUT, check=False
        )
        return json.loads(judged.stdout) if judged.stdout else {}

    def events(self, kind: str) -> list:
        shown = subprocess.run(
            [WHYSTOP, "inspect", self.folder, "--kind", kind], capture_output=True, timeout=TIMEOUT, check=False
        )
        return [json.loads(line) for line in shown.stdout.splitlines()]

    def seen(self, what: str) -> list:
        return [one for one in self.events("observation") if one["what"] == what]

    def until_hung(self) -> dict:
        """The verdict as soon as the run is called hung."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            assert self.process.poll() is None, (self.process.stdout.read(), self.process.stderr.read())
            if self.folder.exists() and self.seen("hang"):
                return self.verdict()
            time.sleep(0.3)
        raise AssertionError("not called hung: " + json.dumps(self.events("observation"))[-3000:])

    def job_pid(self) -> int:
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            started = self.events("run-start") if self.folder.exists() else []
            if started:
                return started[0]["pid"]
            time.sleep(0.1)
        raise AssertionError("not started")

    def end(self, number=signal.SIGKILL) -> dict:
        """Ends the job and gives the verdict after that."""
        os.kill(self.job_pid(), number)
        self.process.communicate(timeout=TIMEOUT)
        return self.verdict()

    def finish(self) -> dict:
        self.output = self.process.communicate(timeout=TIMEOUT)
        return self.verdict()


def root(verdict: dict) -> dict:
    return next(cause for cause in verdict["causes"] if cause["role"] == "root")


def told(cause: dict) -> str:
    return "\n".join(one["text"] for one in cause["evidence"])


@pytest.fixture
def live(tmp_path):
    job = Live(tmp_path)
    yield job
    if job.process is not None and job.process.poll() is None:
        for event in job.events("process-start"):
            try:
                os.kill(event["pid"], signal.SIGKILL)
            except OSError:
                pass
        job.process.kill()
        for stream in (job.process.stdout, job.process.stderr):
            stream.close()  # Not read to its end: a process that nobody knew of may hold it for good.
        job.process.wait()


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
