"""Two real gloo ranks under torchrun: the one that holds up the other is named, with its line."""

import pathlib
import sys

import pytest
from conftest import root, told

PROGRAM = """import sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train():
    for step in range(1000):
        if rank == 1 and step == 5:
            if sys.argv[1] == "leaves":
                break
            open(sys.argv[2]).read()
        model(torch.randn(8, 4)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad()
train()
"""


@pytest.fixture
def torchrun(live):
    program = live.work / "ranks.py"
    program.write_text(PROGRAM, encoding="utf-8")
    launcher = pathlib.Path(sys.executable).parent / "torchrun"
    if not launcher.exists():
        pytest.skip("torch is not installed here")
    return lambda *arguments: live.start(launcher, "--nproc-per-node", "2", program, *arguments, hang_after="5")


def test_a_rank_that_left_early_is_named(live, torchrun):
    torchrun("leaves")
    verdict = live.finish()
    assert verdict["outcome"] == "raised" and root(verdict)["id"] == "uneven-inputs", verdict["headline"]
    assert "rank 1" in told(root(verdict)) and "ranks.py:11" in told(root(verdict))
    assert "sibling-rank-failed" in [one["id"] for one in verdict["causes"] if one["role"] == "consequence"]


def test_a_rank_that_waits_for_storage_holds_up_the_other(live, torchrun, tmp_path):
    import os

    fifo = tmp_path / "shard.bin"
    os.mkfifo(fifo)
    torchrun("waits", fifo)
    verdict = live.until_hung()
    assert verdict["outcome"] == "hung" and root(verdict)["id"] == "storage-stall", told(root(verdict))
    assert "rank 1" in told(root(verdict)) and str(fifo) in told(root(verdict)) and "ranks.py:12" in told(root(verdict))
