"""Runs a small program under the real binary and reads the verdict."""

import json
import os
import pathlib
import resource
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", HERE.parents[1] / "build")).resolve()
PYTHON = os.environ.get("WHYSTOP_PYTHON", sys.executable)
TIMEOUT = 300  # Seconds after which something hangs; no test depends on how long anything takes.

BASE = """
import os, signal, subprocess, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(456, 8)
y = x @ torch.randn(8) + 0.1 * torch.randn(456)

def made():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

def step(bx, by, model, optimizer):
    loss = ((model(bx).squeeze(1) - by) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

model = made()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
"""


def _limit(cpu_seconds):
    """Soft and hard limit alike, as `ulimit -t` sets them: the kernel then answers with SIGKILL."""
    return None if cpu_seconds is None else lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


class Ending:
    def __init__(self, verdict, code):
        self.verdict, self.code = verdict, code
        self.outcome = verdict["outcome"]
        self.roots = [cause["id"] for cause in verdict["causes"] if cause["role"] == "root" and cause["answers"] == "stop"]
        self.blamed = [cause["id"] for cause in verdict["causes"] if cause["fault"]]

    def text(self, cause):
        return " ".join(item["text"] for found in self.verdict["causes"] if found["id"] == cause for item in found["evidence"])


@pytest.fixture
def ending(tmp_path):
    """ending(program) or ending(program, shell="python PROGRAM | tee log") -> Ending. PYTHON and PROGRAM stand for themselves;
    `surroundings` is a command that whystop itself is started by."""

    def judge(program, shell=None, base=True, cpu_seconds=None, surroundings=()):
        path = tmp_path / "a program.py"
        path.write_text((BASE if base else "") + program)
        folder = tmp_path / "recording"
        command = [PYTHON, str(path)]
        if shell is not None:
            command = ["sh", "-c", shell.replace("PYTHON", f"'{PYTHON}'").replace("PROGRAM", f"'{path}'")]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        run = subprocess.run([*surroundings, BUILD / "whystop", "run", "--dir", folder, "--", *command], capture_output=True, timeout=TIMEOUT,
                             stdin=subprocess.DEVNULL, check=False, env=environment, cwd=tmp_path, preexec_fn=_limit(cpu_seconds))
        why = subprocess.run([BUILD / "whystop", "why", "--json", folder], capture_output=True, timeout=TIMEOUT, check=False)
        assert why.returncode in (0, 1, 3), why.stderr.decode()
        return Ending(json.loads(why.stdout), run.returncode)

    return judge
