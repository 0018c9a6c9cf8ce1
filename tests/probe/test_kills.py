"""SIGKILL at random moments of a real training: the last completed step is always on record.

WHYSTOP_KILLS sets how many; `make test-all` takes 200.
"""

import os

from ring_reader import read_ring

KILLS = int(os.environ.get("WHYSTOP_KILLS", "20"))
WARM_UP = 3  # Steps of the parent; a forked child counts on from there.

# The parent imports torch once; every child is a fork that trains, tells the steps it completed by shared memory, and is killed.
SCRIPT = """
import mmap, os, random, signal, sys, time
import torch

def train(told, steps=1 << 60):
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    done = 0
    while done < steps:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        done += 1
        told[:8] = done.to_bytes(8, "little")

torch.set_num_threads(1)
random.seed(5)
train(bytearray(8), steps={warm_up})  # What is done once, at the first optimizer and the first step, need not be done in every child.
for turn in range({kills}):
    told = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        train(told)
    while int.from_bytes(told[:8], "little") == 0:
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(child, int.from_bytes(told[:8], "little"))
"""


def test_the_last_completed_step_survives_sigkill(run, script):
    got = run(script(SCRIPT.format(kills=KILLS, warm_up=WARM_UP)), timeout=900)
    assert got.code == 0, got.err
    last = {}
    for item in got.of("step"):
        last[item["pid"]] = max(last.get(item["pid"], 0), item["step"])
    told = dict(map(int, line.split()) for line in got.out.splitlines())
    assert len(told) == KILLS
    last.pop(got.of("step")[0]["pid"])
    assert set(last) == set(told), "every child had a ring of its own"
    wrong = {pid: (last[pid], steps) for pid, steps in told.items() if last[pid] - WARM_UP not in (steps, steps + 1)}
    assert wrong == {}, "process: (last step on record, steps it completed)"


WRITES = """
from whystop_probe.core import ring

writer = ring.open_writer()
writer.observe("long", 1, {"text": "x" * 500, "number": 1.0})
writer.step(7, 0.5, None, None, None, 0)
"""


def test_a_record_whose_last_part_was_not_written_is_left_out(run, script, tmp_path):
    run(script(WRITES))
    (path,) = [path for path in tmp_path.glob("*/*.ring") if "long" in kinds(path)]
    torn = bytearray(path.read_bytes())
    slots = [at for at in range(4096, len(torn), 128) if torn[at + 12] == 5 and torn[at + 15] > 1]
    torn[slots[-1] : slots[-1] + 8] = bytes(8)  # As a writer leaves it that was killed in the middle: sequence number 0.
    path.write_bytes(torn)
    assert "long" not in kinds(path)
    assert "step" in kinds(path)


def kinds(path):
    return [record.get("kind", record["record"]) for _, record in read_ring(path)]
