"""Doing no harm: the same numbers, the same output, the same random states, with and without the probe."""

import os
import sys

import pytest

from conftest import SCRIPTS

SCRIPT = os.path.join(SCRIPTS, "identical.py")
GROUPS = [
    ("mlp", "cnn", "transformer", "rnn", "lbfgs", "accumulation", "bfloat16", "scaler", "nan", "gan"),
    ("compiled",),
    ("fork", "spawn"),
]


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: "+".join(names)[:20])
def test_results_are_bit_identical(run, names):
    bare = run(SCRIPT, *names, probe=False)
    if bare.code != 0 and "InductorError" in bare.err and " " in sys.prefix:
        pytest.skip("torch itself compiles nothing where its path has a blank")
    got = run(SCRIPT, *names)
    assert bare.code == 0, bare.err
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert got.observations("probe-failure") == []
    assert len(got.of("step")) > 10, "the probe was there"


def test_lightning_is_bit_identical_and_its_stop_is_named(run):
    script = os.path.join(SCRIPTS, "lightning_fit.py")
    bare, got = run(script, probe=False), run(script)
    assert bare.code == 0, bare.err
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert got.observations("probe-failure") == []
    assert got.one("framework")["epochs"] == 20
    stop = got.one("framework-stop")
    assert (stop["who"], stop["patience"], stop["wait_count"], stop["monitor"]) == ("EarlyStopping", 2, 2, "val_loss")
    assert got.of("progress")[-1]["epoch"] == 3
    assert len([item for item in got.of("scalar") if item["name"] == "val_loss" and item["role"] == 2]) == 3


def test_hugging_face_is_bit_identical_and_its_stop_is_named(run):
    script = os.path.join(SCRIPTS, "huggingface_fit.py")
    bare, got = run(script, probe=False), run(script)
    assert bare.code == 0, bare.err
    state = [line for line in bare.out.splitlines() if line.startswith("state")]
    assert state == [line for line in got.out.splitlines() if line.startswith("state")]
    assert got.observations("probe-failure") == []
    assert (got.one("framework")["epochs"], got.one("framework")["steps"]) == (30, 120)
    stop = got.one("framework-stop")
    assert (stop["who"], stop["early_stopping_patience"], stop["early_stopping_patience_counter"]) == ("EarlyStoppingCallback", 2, 2)
    assert got.one("framework-end")["global_step"] == 12


def test_torchrun_is_bit_identical_and_every_rank_is_seen(run, tmp_path):
    script = os.path.join(SCRIPTS, "ddp.py")
    arguments = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script)
    prints = []
    for number, probe in enumerate((False, True)):
        out = tmp_path / f"out{number}"
        out.mkdir()
        got = run(*arguments, probe=probe, environment={"OUT_DIR": str(out), "OMP_NUM_THREADS": "1"})
        assert got.code == 0, got.err
        prints.append([(out / f"rank{rank}").read_text() for rank in (0, 1)])
    assert prints[0] == prints[1]
    assert len({item["pid"] for item in got.of("step")}) == 2
    assert got.observations("probe-failure") == []


def test_accelerate_is_bit_identical_and_its_plan_is_read(run):
    script = os.path.join(SCRIPTS, "accelerate_fit.py")
    bare, got = run(script, probe=False), run(script)
    assert bare.code == 0, bare.err
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert got.observations("probe-failure") == []
    assert len(got.of("step")) == 12, "3 epochs of 8 batches, 2 a step"
    plan = [(item["role"], item["planned"]) for item in got.observations("loop-plan")[:2]]
    assert plan == [("epochs", 3), ("steps", 8)]
    assert got.of("progress")[-1]["epoch"] == 3
