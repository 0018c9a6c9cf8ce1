"""A run that moves and is slow: what it waits for, and what holds it down. A minute of it, since short runs are slow for many reasons."""

import os

import pytest
from conftest import BUILD, told

NVML = BUILD / "fake_nvml"
PROGRAM = """import time
import torch
class Photos(torch.utils.data.Dataset):
    def __len__(self):
        return 400
    def __getitem__(self, index):
        time.sleep(0.25)
        return torch.randn(4), torch.randn(1)
held_out = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, num_workers=1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train():
    for step, (inputs, targets) in enumerate(torch.utils.data.DataLoader(Photos(), batch_size=4)):
        if step == 72:
            break
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        if step % 24 == 0:
            sum(float(model(inputs).sum()) for inputs, _ in held_out)
if __name__ == "__main__":
    train()
"""


@pytest.mark.skipif("WHYSTOP_ALL" not in os.environ, reason="takes more than a minute; with WHYSTOP_ALL=1")
def test_a_slow_loader_a_hot_gpu_and_weights_that_stayed_on_the_cpu(live):
    """The GPUs are those of tests/fake_nvml: two, both held down by heat, and out of reach of this build of PyTorch."""
    torch = pytest.importorskip("torch")
    if not NVML.exists() or torch.version.cuda:
        pytest.skip("needs the stand-in for NVML, and a PyTorch without CUDA")
    live.python(PROGRAM, hang_after=None, env={**os.environ, "LD_LIBRARY_PATH": str(NVML)})
    verdict = live.finish()
    slow = {cause["id"]: told(cause) for cause in verdict["causes"] if cause["role"] == "contributing"}
    assert live.seen("hang") == [] and {"data-bound", "gpu-thermal-throttle", "cpu-fallback"} <= set(slow), verdict["causes"]
    assert "waiting for the next batch" in slow["data-bound"] and "the loader of Photos, batches of 4, has no workers" in slow["data-bound"]
    assert "heat" in slow["gpu-thermal-throttle"]
    assert "the machine has 2" in slow["cpu-fallback"] and "has no CUDA" in slow["cpu-fallback"]
