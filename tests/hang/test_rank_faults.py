"""Real gloo ranks of every launcher: the one that fails, leaves, is killed, is slow or is stuck is named, with its line.

Two ranks always; under torchrun also four and eight, with WHYSTOP_ALL=1. torch.multiprocessing.spawn tells nobody the rank.
"""

import os
import pathlib
import shutil
import sys

import pytest
from conftest import root, told

PROGRAM = pathlib.Path(__file__).with_name("rank_program.py")
SIZES = (2, 4, 8) if "WHYSTOP_ALL" in os.environ else (2,)
LAUNCHES = [*(("torchrun", size) for size in SIZES), ("spawn", 2), ("accelerate", 2)]
# "multi_gpu" is what accelerate calls several processes of one machine; the processor will do.
ACCELERATE = "--multi_gpu --num_machines 1 --mixed_precision no --dynamo_backend no --num_processes 2 --main_process_port".split()


def place(text: str) -> str:
    """The line of the program on which this stands, as a verdict tells it."""
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    return f"ranks.py:{next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))}"


class Launch:
    """Starts the program with its fault under one launcher."""

    def __init__(self, live, launcher, ranks, port):
        self.live, self.launcher, self.ranks, self.port = live, launcher, ranks, str(port)
        self.last = ranks - 1

    def __call__(self, fault, wrap="ddp", argument=""):
        program = shutil.copy(PROGRAM, self.live.work / "ranks.py")
        scripts = pathlib.Path(sys.executable).parent
        starts = {
            "torchrun": (scripts / "torchrun", "--nproc-per-node", str(self.ranks), "--master-port", self.port),  # Else all torchruns share one.
            "accelerate": (scripts / "accelerate", "launch", *ACCELERATE, self.port),
            "spawn": (sys.executable,),
        }
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self.port}
        words = (*starts[self.launcher], program, self.launcher, fault, wrap, str(argument))
        return self.live.start(*words, hang_after="10", env=environment)


@pytest.fixture(params=LAUNCHES, ids=lambda launch: f"{launch[0]}-{launch[1]}")
def launch(request, live, free_port):
    pytest.importorskip("torch")
    launcher, ranks = request.param
    if launcher == "accelerate":
        pytest.importorskip("accelerate")
    return Launch(live, launcher, ranks, free_port)


def siblings_are_told(verdict) -> bool:
    return "sibling-rank-failed" in [one["id"] for one in verdict["causes"] if one["role"] == "consequence"]


def test_a_rank_that_raises(live, launch):
    launch("raises")
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("raised", "uncaught-exception"), verdict["headline"]
    assert f"rank {launch.last}: ValueError: bad sample 20" in told(root(verdict)) and place("raise ValueError") in told(root(verdict))
    assert siblings_are_told(verdict) or launch.launcher != "torchrun"


@pytest.mark.parametrize("wrap", ["ddp", "hand"])
def test_a_rank_that_is_killed(live, launch, wrap):
    if launch.launcher == "accelerate" and wrap == "hand":
        pytest.skip("accelerate itself exchanges the gradients")
    launch("killed", wrap)
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("killed", "external-sigkill"), verdict["headline"]
    assert f"rank {launch.last} (process" in told(root(verdict)) and place("for step in") in told(root(verdict))
    assert siblings_are_told(verdict) or launch.launcher != "torchrun"


def test_a_rank_that_left_early(live, launch):
    launch("leaves")
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("raised", "uneven-inputs"), verdict["headline"]
    assert f"rank {launch.last} left its loop" in told(root(verdict)) and place("break") in told(root(verdict))
    assert siblings_are_told(verdict) or launch.launcher != "torchrun"


def test_a_rank_that_is_slow(live, launch):
    launch("slow", argument=0.05 * launch.ranks)  # Slower than the turns that many ranks take on few cores.
    verdict = live.finish()
    slow = [one for one in verdict["causes"] if one["id"] == "straggler"]
    assert verdict["outcome"] == "completed" and slow and slow[0]["role"] == "contributing", live.seen("rank-places")
    assert f"waited for rank {launch.last}" in told(slow[0]) and place("time.sleep(float") + " in trouble" in told(slow[0])


def test_a_rank_that_waits_for_storage(live, launch, tmp_path):
    fifo = tmp_path / "shard.bin"
    os.mkfifo(fifo)
    launch("waits", argument=fifo)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "storage-stall"), told(root(verdict))
    assert f"rank {launch.last}" in told(root(verdict)) and str(fifo) in told(root(verdict))
    assert place("open(argument)") + " in trouble" in told(root(verdict))


@pytest.mark.parametrize("launch", [("torchrun", 2)], indirect=True, ids=["torchrun-2"])
def test_ranks_of_the_same_pace_have_no_straggler(live, launch):
    launch("equal", "hand")
    verdict = live.finish()
    assert verdict["outcome"] == "completed" and live.seen("rank-places")
    assert not [one["id"] for one in verdict["causes"] if one["fault"]]
