"""Jobs that take their time and are well: whatever they do for longer than the limit, nobody calls them hung."""

import pytest

COMPILE = """import subprocess, sys
print("compiling", flush=True)
for number in range(12):
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(1_500_000))"], check=True)
print("compiled", flush=True)
"""
EVALUATION = """import time, torch
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
def evaluate():
    correct = 0
    end = time.monotonic() + 6
    while time.monotonic() < end:
        correct += int(model(torch.randn(512, 64)).argmax().item() == 1)
    return correct
print("evaluating", flush=True)
evaluate()
print("evaluated", flush=True)
"""
CHECKPOINT = """import os, time
print("saving", flush=True)
end = time.monotonic() + 6
with open("checkpoint.bin", "wb") as file:
    while time.monotonic() < end:
        file.seek(0)
        file.write(os.urandom(1 << 22))
        file.flush()
        os.fsync(file.fileno())
print("saved", flush=True)
"""
SLOW = """import time
for step in range(4):
    time.sleep(1.7)
    print("step", step, flush=True)
"""


@pytest.mark.parametrize("source", [COMPILE, EVALUATION, CHECKPOINT, SLOW], ids=["compile", "evaluation", "checkpoint", "slow steps"])
def test_a_long_phase_is_no_hang(live, source):
    live.python(source, cwd=live.work)
    verdict = live.finish()
    assert live.process.returncode == 0, live.output
    assert verdict["outcome"] == "completed"
    assert live.seen("hang") == []
    assert not [cause["id"] for cause in verdict["causes"] if cause["fault"]]


def test_a_run_that_moved_on_is_not_called_hung(live):
    live.python("import threading\nprint('a', flush=True)\nthreading.Event().wait(8)\n"
                "for i in range(30):\n    print('b', flush=True)\n    threading.Event().wait(0.1)\n")
    verdict = live.finish()
    assert live.seen("hang") and live.seen("hang-over")
    assert verdict["outcome"] == "completed"
    assert not [cause["id"] for cause in verdict["causes"] if cause["fault"]]
