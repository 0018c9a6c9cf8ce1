"""A signal reaches the job once, whoever it was sent to, and its sender is on record."""

import os
import signal
import subprocess

import pytest
from conftest import TIMEOUT, stat_fields, wait_until

# Counts what it gets, says so at once, and ends at SIGUSR2.
COUNTER = """
import os, signal, sys
counts = {}
def count(number, frame):
    counts[number] = counts.get(number, 0) + 1
    os.write(1, b"got %d\\n" % number)
for number in (1, 2, 3, 10, 15, 18, 28):
    signal.signal(number, count)
signal.pthread_sigmask(signal.SIG_BLOCK, {12})
os.write(1, b"ready\\n")
while signal.SIGUSR2 not in signal.sigpending():
    try:
        signal.sigtimedwait({12}, 600)
        break
    except InterruptedError:
        pass
os.write(1, (" ".join(f"{n}:{c}" for n, c in sorted(counts.items())) + "\\n").encode())
"""


@pytest.fixture
def counter(supervisor):
    process = supervisor.start(*supervisor.python(COUNTER), stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    process.recording = supervisor.recording
    return process


def finish(counter):
    """Ends the job by a signal to it alone and returns its own count of all the others."""
    os.kill(wait_until(counter.recording.job_pid, "the job's start is on record"), signal.SIGUSR2)
    lines = counter.stdout.read().decode().splitlines()
    assert counter.wait(TIMEOUT) == 0
    return lines[-1]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGTERM,
                                    signal.SIGCONT])
def test_a_signal_to_whystop_is_forwarded_once(counter, number):
    counter.send_signal(number)
    assert counter.stdout.readline() == b"got %d\n" % number
    assert finish(counter) == f"{int(number)}:1"
    seen = counter.recording.find(f"^signal number={int(number)} forwarded=1 kernel=0 sender={os.getpid()} ")
    assert len(seen) == 1
    assert "name=pytest" in seen[0] or "name=python" in seen[0]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_the_group_is_not_delivered_twice(counter, number):
    os.killpg(counter.pid, number)
    assert counter.stdout.readline() == b"got %d\n" % number
    wait_until(lambda: counter.recording.find(f"^signal number={int(number)} "), "the signal is on record")
    assert finish(counter) == f"{int(number)}:1"
    assert counter.recording.find(f"^signal number={int(number)} forwarded=0 ")


def test_a_signal_to_every_process_is_not_delivered_twice(counter, supervisor):
    """As a Slurm step or a container's stop does it."""
    keeper = supervisor.keeper_of(counter.pid)
    for pid in (counter.pid, keeper, supervisor.job()):
        os.kill(pid, signal.SIGTERM)
    assert counter.stdout.readline() == b"got 15\n"
    wait_until(lambda: counter.recording.find("^signal number=15 "), "the signal is on record")
    assert finish(counter) == "15:1"


def test_several_signals_in_a_row_all_arrive(counter):
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
        counter.send_signal(number)
    got = sorted(counter.stdout.readline() for _ in range(3))
    assert got == [b"got 10\n", b"got 15\n", b"got 2\n"]
    finish(counter)


def test_a_job_that_dies_of_a_group_signal_has_it_on_record(supervisor):
    process = supervisor.start("sleep", "600", start_new_session=True)
    supervisor.job()
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    assert supervisor.recording.find("^signal number=15 forwarded=0 ")
    assert supervisor.recording.find("^end signal:15$")


def test_a_group_killed_by_sigkill_is_still_recorded_to_its_end(supervisor):
    """`kill -9 %1` takes the front and the job; the keeper is in a session of its own."""
    process = supervisor.start("sleep", "600", start_new_session=True)
    supervisor.job()
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(TIMEOUT) == -signal.SIGKILL
    assert supervisor.wait_for_end() == "end signal:9"


def test_a_job_that_ignores_sigterm_goes_on(supervisor):
    process = supervisor.start("sh", "-c", "trap '' TERM; echo ready; read line; exit 3", stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: supervisor.recording.find("^signal number=15 forwarded=1"), "the signal is forwarded")
    assert process.poll() is None
    process.communicate(b"\n", timeout=TIMEOUT)
    assert process.returncode == 3


def test_a_job_in_its_own_group_or_session_gets_forwarded_signals(supervisor):
    for leave in ("os.setpgid(0, 0)", "os.setsid()"):
        code = f"import os,signal\n{leave}\nos.write(1,b'x')\nsignal.pause()"
        process = supervisor.start(*supervisor.python(code), stdout=subprocess.PIPE)
        process.stdout.read(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 128 + signal.SIGTERM


def test_nohup_still_protects(supervisor):
    process = supervisor.start("sh", "-c", "echo ready; read line; exit 5", stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    wait_until(lambda: supervisor.recording.find("^signal number=1 "), "the signal is on record")
    process.communicate(b"\n", timeout=TIMEOUT)
    assert process.returncode == 5


def test_timeout_is_named_as_the_sender(supervisor):
    command = ["timeout", "0.5", *supervisor.command("sleep", "600")]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False, start_new_session=True)
    assert result.returncode == 124
    assert supervisor.wait_for_end() == "end signal:15"
    assert supervisor.recording.find("^signal number=15 .* name=timeout command=timeout 0.5 ")


def state(pid):
    fields = stat_fields(pid)
    return fields[0] if fields else None


def test_whystop_stops_and_goes_on_with_the_job(supervisor):
    """A shell waits for whystop, so it must see it stop. (Not in an orphaned group: there nothing stops.)"""
    process = supervisor.start("sleep", "600")
    job = supervisor.job()
    os.kill(job, signal.SIGSTOP)
    wait_until(lambda: state(process.pid) == "T", "whystop stops")
    os.kill(job, signal.SIGCONT)
    wait_until(lambda: state(process.pid) == "S" and state(job) == "S", "both go on")
    os.kill(job, signal.SIGSTOP)
    wait_until(lambda: state(process.pid) == "T", "whystop stops again")
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: state(process.pid) == "S" and state(job) == "S", "both go on again")
    os.kill(job, signal.SIGSTOP)
    wait_until(lambda: state(process.pid) == "T", "whystop stops a third time")
    os.kill(job, signal.SIGKILL)
    assert process.wait(TIMEOUT) == 128 + signal.SIGKILL
