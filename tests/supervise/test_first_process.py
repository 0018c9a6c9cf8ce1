"""As the first process of a container: whystop does what an init does."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD

WHYSTOP = BUILD / "whystop"
OWN = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]


@pytest.fixture
def first(tmp_path):
    """Starts a command with whystop as process 1 of a PID namespace."""
    if not shutil.which("unshare") or subprocess.run([*OWN, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to make a PID namespace")

    def start(*command):
        return subprocess.Popen([*OWN, WHYSTOP, "run", "-q", "--dir", tmp_path / "r", "--", *command],
                                stdout=subprocess.PIPE, text=True)

    return start


def test_it_passes_the_status_on_and_reaps_orphans(first):
    # An orphan's parent is process 1: when it has ended, nothing of it may be left in the process table.
    script = ("(sh -c 'sleep 0.2' &); sleep 0.5; for try in $(seq 200); do zombies=; "
              "for stat in /proc/[0-9]*/stat; do read line < $stat; case $line in *') Z '*) zombies=some;; esac; done; "
              "[ -z $zombies ] && break; sleep 0.1; done; echo zombies: $zombies; exit 7")
    job = first("sh", "-c", script)
    assert job.communicate(timeout=60)[0] == "zombies:\n"
    assert job.returncode == 7


def test_a_containers_sigterm_reaches_the_job(first):
    job = first("sh", "-c", "trap 'echo asked; exit 3' TERM; echo up; while :; do sleep 0.1; done")
    assert job.stdout.readline() == "up\n"
    (child,) = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)
    assert job.communicate(timeout=60)[0] == "asked\n"
    assert job.returncode == 3
