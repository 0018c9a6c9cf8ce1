"""A file may be cut anywhere: by a full disk, a killed writer, `head`. Whatever its length, judging it is safe, and no cause
is told that the whole file does not tell, but for the plain fact that an exception ended it."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
FILES = ROOT / "tests" / "cuts" / "files"
SEEDS = ROOT / "fuzz" / "seeds"

# What may be said of the file at some length, and must be said of all of it: outcomes, causes.
CASES = {
    FILES / "cuda_out_of_memory": ({"unknown", "raised"}, {"uncaught-exception", "cuda-oom"}, {"cuda-oom"}),
    FILES / "slurm_time_limit": ({"unknown", "killed"}, {"scheduler-time-limit"}, {"scheduler-time-limit"}),
    FILES / "keras_completed": ({"unknown", "completed"}, {"finished-epochs"}, {"finished-epochs"}),
    FILES / "bar_cut_short": ({"unknown"}, set(), set()),
    FILES / "ranks_value_error": ({"unknown", "raised"}, {"uncaught-exception"}, {"uncaught-exception"}),
    FILES / "metrics.csv": ({"unknown"}, set(), set()),
    FILES / "metrics.jsonl": ({"unknown"}, {"loss-nan"}, {"loss-nan"}),
    SEEDS / "trainer_state" / "state": ({"unknown", "stopped-early"}, {"early-stop-patience"}, {"early-stop-patience"}),
    SEEDS / "tensorboard" / "file": ({"unknown"}, set(), set()),
    SEEDS / "wandb" / "file": ({"unknown", "interrupted"}, {"loss-nan", "user-interrupt"}, {"loss-nan", "user-interrupt"}),
}


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_cut_invents_a_cause(path, tmp_path):
    outcomes, causes, told_of_all = CASES[path]
    scratch = tmp_path / "found"  # A neutral name: the verdict comes from the bytes.
    done = subprocess.run([BUILD / "judge_cuts", path, scratch], capture_output=True, text=True, timeout=300, check=True)
    *verdicts, last = map(json.loads, done.stdout.splitlines())
    assert last["lengths"] == path.stat().st_size + 1
    for verdict in verdicts:
        assert verdict["outcome"] in outcomes, verdict
        assert set(verdict["causes"]) <= causes, verdict
    whole = subprocess.run([BUILD / "whystop", "why", "--json", scratch], capture_output=True, text=True, timeout=60, check=False)
    assert {cause["id"] for cause in json.loads(whole.stdout)["causes"]} >= told_of_all
