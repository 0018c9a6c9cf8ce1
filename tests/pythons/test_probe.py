"""The probe in every Python of this machine: it opens its ring, natively where it may, and changes neither status nor output."""

import json
import os
import signal
import subprocess

import pytest
from conftest import BUILD, ROOT, TIMEOUT, WHYSTOP
from ends import ENDS, WAYS_ENDS, compare, default_signals, fill

# With WHYSTOP_ALL=1 the whole table, which takes minutes for each Python.
SOME = (*WAYS_ENDS, "interrupt while sleeping", "exit 256", "exception with a chain", "exception in a thread",
        "segmentation fault with a fault handler", "exec of Python", "fork and an exception", "signal SIGTERM")
CHOSEN = tuple(ENDS) if "WHYSTOP_ALL" in os.environ else SOME
LOOP = """import sys, time
sys.path.insert(0, {folder!r})
import torch
total = 0
for step in range(30):
    total += step
    print("step", step, "loss", 1 / (step + 1), flush=True)
print("total", total, file=sys.stderr)
"""
RAISES = LOOP + "def bad(batch):\n    raise ValueError('bad batch %d' % batch)\nbad(7)\n"
# The interrupt waits for the one line at which it may come.
INTERRUPTED = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n" + LOOP + """
while signal.SIGINT not in signal.sigpending():
    time.sleep(0.01)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
"""


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path)
    return tmp_path


@pytest.mark.parametrize("trains", [False, True], ids=["no framework", "framework"])
def test_every_end_is_the_same(python, folder, trains):
    first = "import torch\n" if trains else ""
    names = CHOSEN if trains or CHOSEN != SOME else WAYS_ENDS
    compare(folder, [(name, first + ENDS[name] + "\n", "file") for name in names], python.path)


@pytest.mark.parametrize("part", ["ring", "pulse", "feed", "governor", "weak"])
@pytest.mark.parametrize("native", [True, False], ids=["native", "pure"])
def test_its_own_tests(python, part, native):
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **({} if native else {"WHYSTOP_NO_NATIVE": "1"})}
    command = [python.path, "-m", "unittest", f"whystop_probe.core.{part}_test"]
    ran = subprocess.run(command, cwd=BUILD / "python", env=variables, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert ran.returncode == 0, ran.stderr


def test_which_part_is_loaded(python):
    """The extension wherever there is a GIL; nowhere else, where it would crash or bring the GIL back."""
    show = "import whystop_probe.core.ring as ring, sys; print(ring.native is not None, getattr(sys, '_is_gil_enabled', lambda: True)())"
    ran = subprocess.run([python.path, "-W", "error", "-c", show], cwd=BUILD / "python", capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == ([str(not python.free_threaded)] * 2, "")


def run(words, folder, interrupt=False):
    """Status, output and errors of a job that is interrupted, if asked, once it has said all that it says."""
    with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=default_signals, start_new_session=True) as process:
        said = []
        if interrupt:
            while not said or not said[-1].startswith(b"total"):
                said.append(process.stderr.readline())
            os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=TIMEOUT)
    return process.returncode, out, b"".join(said) + errors


@pytest.mark.parametrize("source, status, outcome", [(LOOP, 0, "completed"), (RAISES, 1, "raised"), (INTERRUPTED, -signal.SIGINT, "interrupted")],
                         ids=["loop", "exception", "interrupt"])
def test_a_recorded_run_ends_as_a_bare_one(python, folder, source, status, outcome):
    (folder / "program.py").write_text(source.format(folder=str(folder)))
    interrupt = source == INTERRUPTED
    bare = run([python.path, "program.py"], folder, interrupt)
    got = run([WHYSTOP, "run", "--quiet", "--dir", "recording", "--", python.path, "program.py"], folder, interrupt)
    assert bare[0] == status and got[1:] == bare[1:]
    assert got[0] == (status if status >= 0 else 128 - status)  # As a shell tells it.
    judged = subprocess.run([WHYSTOP, "why", "--json", "recording"], cwd=folder, capture_output=True, timeout=TIMEOUT, check=False)
    verdict = json.loads(judged.stdout)
    assert verdict["outcome"] == outcome, verdict["headline"]
    shown = subprocess.run([WHYSTOP, "inspect", "recording", "--kind", "observation"], cwd=folder, capture_output=True, timeout=TIMEOUT, check=False)
    assert b'"stacks"' in shown.stdout and b'"process-exit"' in shown.stdout, "the probe did not speak"
