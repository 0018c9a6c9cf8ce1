"""A recorded program and a `whystop try` of it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
PYTHON = os.environ.get("WHYSTOP_PYTHON", sys.executable)
TIMEOUT = 1500  # Seconds after which something hangs; no test depends on how long anything takes.
BUDGET = "20m"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "my project"
    folder.mkdir()
    return folder


def record(project, source, command=None, given=None, fails=False):
    (project / "train.py").write_text(source)
    run = project.parent / "run"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([WHYSTOP, "run", "-q", "--dir", run, "--", *(command or [PYTHON, "train.py"])], cwd=project, env=environment,
                          capture_output=True, timeout=TIMEOUT, input=given or b"", check=False)
    assert fails or done.returncode == 0, done.stderr.decode()
    return run


def attempt(run, *options, budget=BUDGET):
    done = subprocess.run([WHYSTOP, "try", "--budget", budget, *options, run], capture_output=True, timeout=TIMEOUT, check=False,
                          stdin=subprocess.DEVNULL)
    if b"cannot be protected" in done.stderr:
        pytest.skip("no namespaces here: " + done.stderr.decode())
    return done


def verdict_of(run):
    return json.loads(subprocess.run([WHYSTOP, "why", "--json", run], capture_output=True, timeout=TIMEOUT, check=False).stdout)


def state_of(folder):
    return {path.relative_to(folder): (path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.read_bytes() if path.is_file() else None)
            for path in sorted([folder, *folder.rglob("*")])}
