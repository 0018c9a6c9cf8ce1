"""`whystop run` itself: trouble with the recording costs the recording, never the job; kills cost no record."""

import concurrent.futures
import json
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import BUILD, TIMEOUT, children, kill_count, name_of, wait_until

WHYSTOP = BUILD / "whystop"
pytestmark = pytest.mark.skipif(not WHYSTOP.exists(), reason="build/whystop is not built")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("WHYSTOP_HOME", str(tmp_path / "home"))


def command(folder, *job):
    return [str(WHYSTOP), "run", "--quiet", "--dir", str(folder), "--", *map(str, job)]


def run(folder, *job, **options):
    return subprocess.run(command(folder, *job), capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                          check=False, **options)


def events(folder):
    """The recording as `whystop inspect` prints it; fails if that cannot read it to the end."""
    result = subprocess.run([WHYSTOP, "inspect", folder], capture_output=True, timeout=TIMEOUT, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def recorded_output(folder):
    return subprocess.run([WHYSTOP, "inspect", "--output", folder], capture_output=True, timeout=TIMEOUT, check=True).stdout


def of_kind(folder, kind):
    return [event for event in events(folder) if event["kind"] == kind]


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


JOB = ("sh", "-c", "echo fine; exit 4")


def test_a_missing_folder_is_made(tmp_path):
    folder = tmp_path / "a" / "b"
    assert run(folder, *JOB).returncode == 4
    assert of_kind(folder, "run-end")[-1]["code"] == 4


def test_the_output_can_be_read_back(tmp_path):
    done = run(tmp_path / "r", "printf", "\\000binary\\377\\nlast line")
    assert recorded_output(tmp_path / "r") == done.stdout == b"\0binary\xff\nlast line"


def test_a_place_that_cannot_be_written_costs_the_recording_only(tmp_path):
    """/proc is nobody's to write, root included."""
    result = run("/proc/whystop-cannot-be-here", *JOB)
    assert (result.returncode, result.stdout) == (4, b"fine\n")
    assert result.stderr.startswith(b"whystop: ")
    assert b"/proc/whystop-cannot-be-here" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_read_only_folder_costs_the_recording_only(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    for parent in tmp_path.parents[:3]:
        os.chmod(parent, 0o755)
    result = run(folder / "recording", *JOB, preexec_fn=as_nobody)
    assert (result.returncode, result.stdout) == (4, b"fine\n")
    assert b"ermission denied" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_disk_costs_the_recording_only(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", folder], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("cannot mount here")
    try:
        result = run(folder / "recording", "sh", "-c", "seq 1 500000; exit 4")
        assert result.returncode == 4
        assert result.stdout == b"".join(b"%d\n" % i for i in range(1, 500001))
        ends = of_kind(folder / "recording", "run-end")
        assert ends and ends[-1]["code"] == 4, "the reserve keeps room for the end"
    finally:
        subprocess.run(["umount", folder], check=True)


def test_two_runs_on_one_folder_are_refused_before_the_job_starts(tmp_path):
    folder = tmp_path / "recording"
    first = subprocess.Popen(command(folder, "sleep", "600"), stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: (folder / "lock").exists() and [p for p in children(first.pid) if name_of(p) == "wskeeper"],
                   "the first run starts")
        second = run(folder, "touch", tmp_path / "started")
        assert second.returncode == 125
        assert str(first.pid).encode() in second.stderr
        assert not (tmp_path / "started").exists()
    finally:
        first.terminate()
        assert first.wait(TIMEOUT) == 128 + signal.SIGTERM


def test_a_nested_run_makes_two_recordings(tmp_path):
    result = run(tmp_path / "outer", *command(tmp_path / "inner", "sh", "-c", "echo in; kill -9 $$"))
    assert (result.returncode, result.stdout) == (137, b"in\n")
    assert of_kind(tmp_path / "outer", "run-end")[-1]["code"] == 137
    assert of_kind(tmp_path / "inner", "run-end")[-1]["signal"] == 9


def test_a_command_that_cannot_start_is_on_record(tmp_path):
    result = run(tmp_path / "r", "no-such-command-here")
    assert result.returncode == 127
    assert result.stderr == b"whystop: command not found: 'no-such-command-here'\n"
    assert "could not start" in of_kind(tmp_path / "r", "note")[-1]["text"]


def front_and_keeper(pid):
    return pid, wait_until(lambda: [child for child in children(pid) if name_of(child) == "wskeeper"], "the keeper")[0]


# Prints the time, so that the recording's completeness can be judged against the moment of the kill.
TICKER = "import os,time\nwhile time.sleep(0.005) is None: os.write(1, b'%d\\n' % time.time_ns())"


def kill_in_mid_run(folder, victim, delay):
    """Kills the job, the front (the keeper then records on) or the keeper (the front takes over)."""
    front = subprocess.Popen(command(folder, "python3", "-S", "-c", TICKER), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
    front.stdout.readline()
    _, keeper = front_and_keeper(front.pid)
    job = wait_until(lambda: children(keeper), "the job")[0]
    time.sleep(delay)
    killed_ns = time.time_ns()
    os.kill({"job": job, "front": front.pid, "keeper": keeper}[victim], signal.SIGKILL)
    if victim != "job":
        while int(front.stdout.readline()) < killed_ns:  # It lives, and what it prints still arrives.
            pass
        os.kill(job, signal.SIGTERM)
    front.stdout.read()
    front.wait(TIMEOUT)
    return killed_ns


@pytest.mark.parametrize("victim", ["job", "front", "keeper"])
def test_random_kills_leave_a_whole_recording(tmp_path, victim):
    """Nothing older than a second before the kill may be missing."""
    chance = random.Random(os.environ.get("WHYSTOP_SEED", time.time_ns()))

    def trial(number):
        folder = tmp_path / str(number)
        killed_ns = kill_in_mid_run(folder, victim, delays[number])
        wait_until(lambda: of_kind(folder, "run-end"), "the recording ends")
        recorded = events(folder)
        ends = [event for event in recorded if event["kind"] == "run-end"]
        assert ends[-1]["signal"] == (9 if victim == "job" else 15)
        assert [event for event in recorded if event["kind"] == "process-end" and event.get("is_job")]
        times = [event["wall_ns"] for event in recorded if event["kind"] == "clock"]
        assert times and max(times) > killed_ns - 1_000_000_000
        printed = [int(line) for line in recorded_output(folder).split(b"\n")[:-1] if line]
        assert max(printed) > killed_ns - 1_000_000_000

    delays = [chance.uniform(0, 0.6) for _ in range(kill_count())]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # They sleep most of the time.
        list(pool.map(trial, range(kill_count())))
