"""Memory of CUDA devices. No GPU is needed: torch.cuda's counters are replaced by a stand-in."""

TRAIN = """
import torch
{stand_in}
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(5):
    net(torch.zeros(1, 4)).sum().backward()
    optimizer.step()
print(torch.cuda.is_initialized())
"""
STAND_IN = """
torch.cuda.is_initialized = lambda: True
torch.cuda.device_count = lambda: 2
torch.cuda.memory_stats = lambda device: {"allocated_bytes.all.current": 100 * device, "reserved_bytes.all.peak": 300 * device, "num_ooms": 0}
"""


def test_counters_of_devices_in_use_are_told_once_while_they_stand_still(run, script):
    got = run(script(TRAIN.format(stand_in=STAND_IN)))
    assert (got.out, got.err) == ("True\n", "")
    seen = got.one("device-memory")
    assert (seen["device"], seen["allocated"], seen["reserved_peak"], seen["ooms"]) == (1, 100, 300, 0)


def test_cuda_is_not_initialised_by_us(run, script):
    got = run(script(TRAIN.format(stand_in="")))
    assert (got.out, got.err) == ("False\n", "")
    assert got.observations("device-memory") == []
