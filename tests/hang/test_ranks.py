"""Gloo ranks without a launcher that wait for each other or for nobody, and the dumps of the flight recorder (faults of a rank: test_rank_faults.py)."""

import os
import pathlib
import sys

import pytest
from conftest import root, told

MISMATCH = """import torch, torch.distributed as dist
dist.init_process_group("gloo")
def report(value):
    dist.all_reduce(value)
def share(value):
    dist.broadcast(value, 1)
for step in range(3):
    report(torch.ones(2))
report(torch.ones(2)) if dist.get_rank() == 0 else share(torch.ones(2, 3))
"""
RENDEZVOUS = "import torch.distributed as dist\nprint('start', flush=True)\ndist.init_process_group('gloo')\n"
SAME = """import sys, threading
import torch, torch.distributed as dist
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(2))
if dist.get_rank() == 1:
    threading.Event().wait()
dist.barrier()
"""


def start_ranks(live, source, present, world, port, hang_after="10"):
    """Ranks without a launcher, under one shell: nobody ends those that are left."""
    program = live.work / "ranks.py"
    program.write_text(source, encoding="utf-8")
    one = f"MASTER_ADDR=127.0.0.1 MASTER_PORT={port} WORLD_SIZE={world} OMP_NUM_THREADS=1 RANK=%d '{sys.executable}' '{program}' &"
    return live.start("sh", "-c", " ".join(one % rank for rank in range(present)) + " wait", hang_after=hang_after)


def test_ranks_in_different_exchanges(live, free_port):
    start_ranks(live, MISMATCH, 2, 2, free_port)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "collective-mismatch"), told(root(verdict))
    assert "ranks.py:4 in report" in told(root(verdict)) and "ranks.py:6 in share" in told(root(verdict))


def test_a_rank_that_never_appears(live, free_port):
    start_ranks(live, RENDEZVOUS, 1, 2, free_port, hang_after="2")  # It asks, sleeps and asks again: ten limits.
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "rendezvous-stuck"), told(root(verdict))
    assert "ranks.py:3" in told(root(verdict))


def test_a_rank_that_waits_for_a_lock_keeps_the_other_in_its_exchange(live, free_port):
    start_ranks(live, SAME, 2, 2, free_port)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "lock-held"), told(root(verdict))
    assert "for rank 1" in told(root(verdict)) and "ranks.py:6" in told(root(verdict))


FLIGHT = """import os, sys, threading, time
import torch, torch.distributed as dist
import torch._C._distributed_c10d as c10d
dist.init_process_group("gloo")
rank = dist.get_rank()
def reduce():
    dist.all_reduce(torch.ones(4))
for step in range(3):
    reduce()
def dump(deadline=240):
    '''As soon as this rank has asked for everything it will ask for.'''
    while not os.path.exists(f"asked{rank}") and deadline > 0:
        time.sleep(0.1)
        deadline -= 0.1
    time.sleep(1)
    with open(f"dumps/nccl_trace_rank_{rank}", "wb") as file:
        file.write(c10d._dump_fr_trace())
    while len(os.listdir("dumps")) < 2 and deadline > 0:
        time.sleep(0.1)
        deadline -= 0.1
    os._exit(0)
threading.Thread(target=dump).start()
open(f"asked{rank}", "w").close()
if rank == 0:
    reduce()
elif sys.argv[1] == "other":
    dist.broadcast(torch.ones(3), 1)
else:
    threading.Event().wait()
"""


@pytest.mark.parametrize("how, cause, text", [("absent", "collective-timeout", "rank 1 never began it"),
                                              ("other", "collective-mismatch", "rank 1 is in gloo:broadcast")])
def test_dumps_of_the_flight_recorder(live, how, cause, text):
    """Gloo's have the form of NCCL's, which needs a GPU."""
    import subprocess

    import conftest

    c10d = pytest.importorskip("torch._C._distributed_c10d")
    if not hasattr(c10d, "_dump_fr_trace"):
        pytest.skip("this version of torch keeps no flight record of gloo")
    (live.work / "dumps").mkdir()
    (live.work / "flight.py").write_text(FLIGHT, encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_FR_BUFFER_SIZE": "100"}
    subprocess.run([pathlib.Path(sys.executable).parent / "torchrun", "--nproc-per-node", "2", "flight.py", how], cwd=live.work,
                   env=environment, capture_output=True, timeout=conftest.TIMEOUT, check=False)
    live.folder = live.work / "dumps"
    verdict = live.verdict()
    assert root(verdict)["id"] == cause and text in told(root(verdict)), told(root(verdict))
    assert "flight.py:" in told(root(verdict))
