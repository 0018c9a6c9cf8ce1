"""What is denied to whystop alone, from the start, later or now and then, never reaches the job; and no call is forgotten."""

import os
import pty
import sys
import threading

import pytest

import denials
import refusals
from conftest import TIMEOUT

SINGLES = 25  # Runs in which one call fails; with WHYSTOP_ALL one for every call that a run makes.


@pytest.fixture(scope="module")
def outcomes():
    return {outcome.name: outcome for outcome in denials.outcomes()}


def fail_for(found):
    harmed = [f"{outcome.name}: {outcome.harm} | {outcome.lost}" for outcome in found if outcome.harm]
    if harmed:
        pytest.fail(f"{len(harmed)} of {len(found)}:\n" + "\n".join(harmed), pytrace=False)


def test_nothing_that_is_denied_to_whystop_harms_the_job(outcomes):
    fail_for(list(outcomes.values()))


def test_a_storm_of_interrupts_costs_nothing(outcomes):
    """EINTR is no refusal: of what is asked again nothing may be lost."""
    for call in ("read", "write", "openat", "poll", "recvfrom", "sendto", "flock", "pwrite64", "pread64", "fdatasync"):
        assert outcomes[f"{call} storm EINTR"].lost in ("nothing that this run would show", "not tried: no seccomp filters here"), call


def test_one_call_that_fails_harms_nobody():
    """Each in its turn, whichever it is."""
    count = denials.count_of_single_calls()
    if count == 0:
        pytest.skip("no seccomp filters here")
    step = 1 if "WHYSTOP_ALL" in os.environ else max(1, count // SINGLES)
    fail_for(denials.outcomes(denials.singles(step)))


def with_a_probe(folder):
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("")
    return {"env": {**os.environ, "PYTHONPATH": str(folder)}}


def on_a_terminal():
    """Descriptors of a terminal that somebody reads."""
    ours, theirs = pty.openpty()

    def read():
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass

    threading.Thread(target=read, daemon=True).start()
    return {"stdin": theirs, "stdout": theirs, "stderr": theirs, "capture_output": False}


LONG = [sys.executable, "-c", "import torch, time, os, subprocess; subprocess.run(['true']); print('x', flush=True); time.sleep(2.5); os.kill(os.getpid(), 15)"]


def test_every_system_call_that_whystop_makes_has_a_row(tmp_path):
    """A new call needs a row in denials.py, or the reason why it has none."""
    probe = with_a_probe(tmp_path)
    made = dict(denials.calls_made(refusals.job_command()))
    if not made:
        pytest.skip("no seccomp filters here")
    made.update(denials.calls_made(LONG, **probe))
    made.update(denials.calls_made(LONG, **probe, **on_a_terminal()))
    with open(tmp_path / "out", "wb") as file:
        made.update(denials.calls_made(LONG, **probe, capture_output=False, stdout=file, stderr=file))
    made.update(denials.calls_made([str(tmp_path / "none")]))
    made.update(denials.calls_made(["false"], "--notify", "exit 0"))
    known = {call.split()[0] for table in (denials.FROM_THE_START, denials.RUNS_OUT, denials.NOT_DENIED) for call in table}
    known.update(call for calls in denials.STORMS.values() for call in calls.split())
    assert sorted(set(made) - known) == []


def test_the_tables_name_calls_that_exist():
    names = denials.numbers()
    elsewhere = {"access", "dup2", "fork", "getdents", "lstat", "mkdir", "open", "poll", "readlink", "rename", "symlink", "unlink"}  # Not on every machine.
    for table in (denials.FROM_THE_START, denials.NOT_DENIED):
        assert [call for call in table if call not in names and call not in elsewhere | {"arch_prctl"}] == []
    assert TIMEOUT > denials.PATIENCE_S
