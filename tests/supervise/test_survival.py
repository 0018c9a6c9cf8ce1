"""SIGKILL of either of our processes at any moment: the job runs to its end and no byte of its output is lost."""

import concurrent.futures
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import RUN_JOB, TIMEOUT, Supervisor, is_alive, kill_count, wait_until

LINES = 20000
# Prints fast enough that bytes are always under way, for long enough to be met alive.
PRINTER = f"""
import os, time
for i in range({LINES}):
    os.write(1 if i % 2 else 2, b"line %d of the output\\n" % i)
    if i % 500 == 0:
        time.sleep(0.002)
os._exit(23)
"""


def expected(parity):
    return b"".join(b"line %d of the output\n" % i for i in range(LINES) if i % 2 == parity)


def run_and_kill(supervisor, victim, delay):
    """Starts the printer, kills the victim after `delay` seconds, returns the front and both outputs."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    front = supervisor.start(*supervisor.python(PRINTER), stdout=out_write, stderr=err_write)
    os.close(out_write)
    os.close(err_write)
    keeper = supervisor.keeper_of(front.pid)  # Before there is one, there is no job either.
    target = front.pid if victim == "front" else keeper
    readers = [subprocess.Popen(["cat"], stdin=fd, stdout=subprocess.PIPE) for fd in (out_read, err_read)]
    os.close(out_read)
    os.close(err_read)
    time.sleep(delay)
    if is_alive(target):
        os.kill(target, signal.SIGKILL)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        outputs = list(pool.map(lambda reader: reader.communicate(timeout=TIMEOUT)[0], readers))
    return front, outputs


@pytest.mark.parametrize("victim", ["front", "keeper"])
def test_random_kills_lose_no_output(tmp_path, victim):
    """The moment is random on purpose; the seed is printed so that a failure can be repeated as nearly as possible."""
    seed = int(os.environ.get("WHYSTOP_SEED", time.time_ns() % 1000000))
    chance = random.Random(seed)
    for trial in range(kill_count()):
        folder = tmp_path / str(trial)
        folder.mkdir()
        supervisor = Supervisor(folder)
        front, (out, err) = run_and_kill(supervisor, victim, chance.uniform(0, 0.15))
        where = f"seed {seed}, trial {trial}, {supervisor.recording.events()}"
        assert out == expected(1), where
        assert err == expected(0), where
        code = front.wait(TIMEOUT)
        if victim == "keeper":
            assert code == 23, where
        assert supervisor.wait_for_end() == "end exit:23", where


def test_the_front_takes_over_and_says_so(supervisor):
    process = supervisor.start("sh", "-c", "echo a; read line; echo b; exit 6", stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"a\n"
    wait_until(lambda: supervisor.recording.log(1) == b"a\n", "what was shown is on record")
    job = supervisor.job()
    os.kill(supervisor.keeper_of(process.pid), signal.SIGKILL)
    wait_until(lambda: supervisor.recording.find("front took over"), "the front takes over")
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.stdout.read() == b"b\n"
    assert process.wait(TIMEOUT) == 6
    assert supervisor.recording.find("^note the keeper was killed by signal 9; the front took over$")
    assert supervisor.recording.find(f"^process-end pid={job} job=1 .*end=exit:6 ")
    assert supervisor.recording.log(1) == b"a\nb\n"


def test_signals_are_still_forwarded_after_the_keeper_died(supervisor):
    process = supervisor.start("sleep", "600")
    supervisor.job()
    os.kill(supervisor.keeper_of(process.pid), signal.SIGKILL)
    wait_until(lambda: supervisor.recording.find("front took over"), "the front takes over")
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    assert supervisor.recording.find("^signal number=15 forwarded=1 ")


def test_the_keeper_goes_on_and_says_so(supervisor):
    read_end, write_end = os.pipe()
    process = supervisor.start("sh", "-c", "echo a; read line; echo b; exit 6", stdin=subprocess.PIPE, stdout=write_end)
    os.close(write_end)
    with open(read_end, "rb") as reader:
        assert reader.readline() == b"a\n"
        process.kill()
        process.wait(TIMEOUT)
        wait_until(lambda: supervisor.recording.find("the keeper goes on"), "the keeper notices")
        process.stdin.write(b"\n")
        process.stdin.close()
        assert reader.read() == b"b\n"
    assert supervisor.wait_for_end() == "end exit:6"


def test_killing_by_name_leaves_the_keeper_alone(supervisor):
    process = supervisor.start("sleep", "600")
    keeper = supervisor.keeper_of(process.pid)
    supervisor.job()
    with open(f"/proc/{keeper}/cmdline", "rb") as file:
        assert file.read().strip(b"\0") == b"wskeeper"
    subprocess.run(["pkill", "-9", "-f", f"^{RUN_JOB} {supervisor.folder} "], check=True)
    assert process.wait(TIMEOUT) == -signal.SIGKILL
    assert is_alive(keeper)
    assert is_alive(supervisor.job())
    os.kill(supervisor.job(), signal.SIGTERM)
    assert supervisor.wait_for_end() == "end signal:15"


def test_a_file_is_recorded_to_its_end_after_the_keeper_died(supervisor, tmp_path):
    with open(tmp_path / "log", "wb") as log:
        process = supervisor.start("sh", "-c", "echo a; read line; echo b", stdin=subprocess.PIPE, stdout=log,
                                   stderr=subprocess.DEVNULL)
    wait_until(lambda: supervisor.recording.log(1) == b"a\n", "the first line is on record")
    os.kill(supervisor.keeper_of(process.pid), signal.SIGKILL)
    wait_until(lambda: supervisor.recording.find("front took over"), "the front takes over")
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.wait(TIMEOUT) == 0
    assert supervisor.recording.log(1) == b"a\nb\n"
