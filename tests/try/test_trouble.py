"""Programs that make it hard for `whystop try`: each gets a limit and a sentence, and what is known so far is told."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from conftest import BUDGET, PYTHON, WHYSTOP, attempt, record, state_of, verdict_of
from look_alikes import SICK, program

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not WHYSTOP.exists(), reason="no binary")

TRAIN = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=30.0)
for step in range(60):
    x = torch.randn(16, 4)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def told(done):
    return " ".join((done.stdout + done.stderr).decode().split())


def test_a_program_that_asks_for_input(project):
    run = record(project, "rate = float(input('rate? '))\n" + TRAIN, given=b"30\n")
    assert "it asks for input, and a trial has none" in told(attempt(run))


def test_a_program_that_needs_the_network(project):
    source = "import urllib.request\nurllib.request.urlopen('http://data.invalid/train.csv')\n" + TRAIN
    run = record(project, source, fails=True)
    assert "it needs the network, which a trial does not have" in told(attempt(run))


def test_a_program_whose_port_is_taken(project):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        source = f"import socket\nboard = socket.socket()\nboard.bind(('127.0.0.1', {port}))\n" + TRAIN
        run = record(project, source, fails=True)
        assert "the port that it needs is taken" in told(attempt(run, "--network"))
        alone = told(attempt(run))  # A network of its own has all ports free.
    assert "the port that it needs" not in alone and "tried" in alone


def test_a_program_that_ends_before_its_first_step(project):
    source = "import pathlib, sys\ndone = pathlib.Path('done')\nif done.exists():\n    sys.exit(0)\ndone.touch()\n" + TRAIN
    assert "it ended before its first training step" in told(attempt(record(project, source)))


def test_a_program_that_takes_long_to_its_first_step(project):
    source = "import pathlib, time\nseen = pathlib.Path('seen')\nif seen.exists():\n    time.sleep(3600)\nseen.touch()\n" + TRAIN
    done = attempt(record(project, source), budget="15s")
    assert "did not come to its first training step in time" in told(done)


def test_a_source_that_has_changed_since(project):
    run = record(project, TRAIN)
    time.sleep(1.1)  # Files and runs are compared by the second.
    (project / "train.py").write_text(TRAIN + "\n# changed\n")
    assert "train.py has changed since the run was recorded" in told(attempt(run, "--fix", "lr-times=0.001"))


def test_a_fixed_path_is_written_to_in_the_layer_alone(project):
    kept = project.parent / "elsewhere.txt"
    run = record(project, TRAIN + f"open({str(kept)!r}, 'a').write('a line')\n")
    before = (kept.stat().st_mtime_ns, kept.read_bytes())
    assert "tried" in told(attempt(run))
    assert (kept.stat().st_mtime_ns, kept.read_bytes()) == before


def test_a_program_behind_a_script(project):
    (project / "all.sh").write_text(f"set -e\necho prepared > prepared.txt\n'{PYTHON}' train.py\necho never > reached-by-a-trial.txt\n")
    run = record(project, program(SICK["lr-too-high"]), command=["sh", "all.sh"])
    before = state_of(project)
    attempt(run)
    assert [cause["id"] for cause in verdict_of(run)["causes"] if cause["role"] == "root" and cause["answers"] == "learning"] == ["lr-too-high"]
    assert state_of(project) == before


def test_a_launcher_is_not_tried(project):
    run = record(project, TRAIN, command=[PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1", "train.py"])
    done = attempt(run)
    assert done.returncode == 2 and "a trial is one process; this run was started by torch.distributed.run" in told(done)


def test_a_fix_is_shown_and_applied_when_asked_for(project):
    source = program(SICK["lr-too-high"])
    run = record(project, source)
    shown = told(attempt(run))
    assert "-opt = torch.optim.Adam(net.parameters(), lr=3.0)" in shown and "+opt = torch.optim.Adam(net.parameters(), lr=" in shown
    assert (project / "train.py").read_text() == source
    assert "applied to" in told(attempt(run, "--apply"))
    applied = (project / "train.py").read_text()
    assert "lr=3.0" not in applied and applied.count("\n") == source.count("\n")
    again = told(attempt(run, "--apply"))  # The line is not there any more.
    assert "nothing applied" in again and (project / "train.py").read_text() == applied


def test_a_ctrl_c_ends_with_what_is_known_so_far(project):
    run = record(project, program(SICK["lr-too-high"]))
    whystop = subprocess.Popen([WHYSTOP, "try", "--budget", BUDGET, run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    trials = pathlib.Path(run) / "trials"
    while whystop.poll() is None and not (trials.exists() and any(trials.iterdir())):
        time.sleep(0.1)
    if whystop.poll() is not None:
        pytest.skip(whystop.stderr.read().decode())
    time.sleep(0.5)
    whystop.send_signal(signal.SIGINT)
    out, fault = whystop.communicate(timeout=300)
    assert "interrupted; this is what is known so far" in fault.decode()
    assert b"LEARNING" in out, os.fsdecode(out)
