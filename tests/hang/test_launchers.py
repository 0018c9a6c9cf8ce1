"""Ranks of other launchers than torchrun: torch.multiprocessing.spawn, which tells nobody the rank, and accelerate."""

import os
import pathlib
import sys

import pytest
from conftest import root, told

TROUBLE = """import os, signal, sys, time
import torch, torch.distributed as dist
torch.set_num_threads(1)
how = sys.argv[1]
def trouble(step):
    if how == "raises" and step == 20:
        raise ValueError("bad sample 20")
    if how == "killed" and step == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "waits" and step == 20:
        open(sys.argv[2]).read()
    if how == "slow":
        time.sleep(0.1)
def train(rank, odd, model, optimizer, backward):
    for step in range(120):
        if rank == odd:
            if how == "leaves" and step == 20:
                break
            trouble(step)
        backward(model(torch.randn(8, 4)).square().mean())
        optimizer.step()
        optimizer.zero_grad()
"""
SPAWN = TROUBLE + """def run(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    train(rank, 1, model, torch.optim.SGD(model.parameters(), lr=0.01), torch.Tensor.backward)
    time.sleep(1)  # gloo aborts when it is torn down while its threads still end an exchange.
    dist.destroy_process_group()
if __name__ == "__main__":
    torch.multiprocessing.spawn(run, args=(int(sys.argv[-1]),), nprocs=2)
"""
ACCELERATE = TROUBLE + """from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
train(accelerator.process_index, 1, model, optimizer, accelerator.backward)
accelerator.end_training()
"""


@pytest.fixture(params=["spawn", "accelerate"])
def launch(request, live, free_port):
    pytest.importorskip("torch")
    pytest.importorskip(request.param if request.param == "accelerate" else "torch")
    program = live.work / "ranks.py"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "1"}
    launcher = pathlib.Path(sys.executable).parent / "accelerate"

    def start(*arguments):
        if request.param == "spawn":
            program.write_text(SPAWN, encoding="utf-8")
            return live.start(sys.executable, program, *arguments, str(free_port), hang_after="10", env=environment)
        program.write_text(ACCELERATE, encoding="utf-8")
        # "multi_gpu" is what it calls several processes of one machine; the processor will do.
        options = ("--multi_gpu", "--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no")
        return live.start(launcher, "launch", *options, "--main_process_port", str(free_port), program, *arguments, hang_after="10", env=environment)

    return start


def test_a_rank_that_raises(live, launch):
    launch("raises")
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("raised", "uncaught-exception"), verdict["headline"]
    assert "rank 1: ValueError: bad sample 20" in told(root(verdict)) and "ranks.py:7 in trouble" in told(root(verdict))


def test_a_rank_that_is_killed(live, launch):
    launch("killed")
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("killed", "external-sigkill"), verdict["headline"]
    assert "rank 1 (process" in told(root(verdict)) and "ranks.py:15" in told(root(verdict))


def test_a_rank_that_left_early(live, launch):
    launch("leaves")
    verdict = live.finish()
    assert (verdict["outcome"], root(verdict)["id"]) == ("raised", "uneven-inputs"), verdict["headline"]
    assert "rank 1 left its loop" in told(root(verdict)) and "ranks.py:18" in told(root(verdict))


def test_a_rank_that_is_slow(live, launch):
    launch("slow")
    verdict = live.finish()
    slow = [one for one in verdict["causes"] if one["id"] == "straggler"]
    assert verdict["outcome"] == "completed" and slow, live.seen("rank-places")
    assert "waited for rank 1" in told(slow[0]) and "ranks.py:13 in trouble" in told(slow[0])


def test_a_rank_that_waits_for_storage(live, launch, tmp_path):
    fifo = tmp_path / "shard.bin"
    os.mkfifo(fifo)
    launch("waits", fifo)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "storage-stall"), told(root(verdict))
    assert "rank 1" in told(root(verdict)) and str(fifo) in told(root(verdict)) and "ranks.py:11 in trouble" in told(root(verdict))
