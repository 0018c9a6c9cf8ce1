"""The reader of tensors on a device, forced onto tensors in host memory: same numbers, nothing that waits, late arrivals."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from whystop_probe.torch.device import DeviceReader
from whystop_probe.torch.tensors import Reader

# Whatever needs a value on the host, or makes a result whose size depends on values.
WAITING = ("_local_scalar_dense", "item", "nonzero", "is_nonzero", "masked_select", "unique", "equal", "allclose")


class Pulse:
    late_waiting = False


class Event:
    """Of a stream that completes when it is told to."""

    done = False

    def query(self):
        return self.done


class NoWaiting(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name().split("::")[-1].split(".")[0]
        assert name not in WAITING, f"{name} waits for the device"
        if name == "copy_":
            assert args[2:3] == (True,) or (kwargs or {}).get("non_blocking"), "a copy that blocks"
        return function(*args, **(kwargs or {}))


@pytest.fixture
def reader(monkeypatch):
    monkeypatch.setenv("WHYSTOP_DEVICE_READER", "host")

    def make(event=None):
        found = DeviceReader(torch, Pulse(), (lambda: event) if event is not None else None)
        return found

    return make


def tensors():
    torch.manual_seed(1)
    plain = torch.randn(300, 7)
    spoiled = plain.clone()
    spoiled[3, 2], spoiled[4, 1], spoiled[5] = math.nan, math.inf, 0.0
    return [plain, spoiled, plain.t(), plain.double() * 1e-9, plain.half(), plain.bfloat16(), torch.full((4,), math.nan), torch.zeros(5)]


def test_numbers_are_those_of_the_host_reader(reader):
    """Goal: the 15 numbers are equal, for all types, shapes out of order, and values that are not finite."""
    got = []
    device = reader()
    assert device.put([*tensors(), None], got.extend)
    device.take()
    wanted = Reader(torch).stats(tensors())
    assert got[-1] is None
    for ours, theirs in zip(got, wanted):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-30)


def test_nothing_waits_for_the_device(reader):
    """Goal: no operation of a sample asks for a value, has a size that depends on one, or copies with a wait.
    The guard itself is tried first."""
    with pytest.raises(AssertionError), NoWaiting():
        torch.ones(3).sum().item()
    device = reader(Event())
    # A tensor out of order is first copied on its own device, which looks like a copy that blocks where all is host memory.
    ordered = [tensor for tensor in tensors() if tensor.is_contiguous()]
    with NoWaiting():
        assert device.put(ordered, lambda stats: None)
        assert device.take()


def test_what_arrives_late_is_told_late(reader):
    """Goal: nothing is read before the stream says that it is done, and then with nothing lost."""
    event, got = Event(), []
    device = reader(event)
    tensor = torch.ones(4)
    assert device.put([tensor], got.extend)
    tensor.fill_(9.0)  # The training goes on.
    assert device.take() and not got
    event.done = True
    assert not device.take()
    assert got[0][4:6] == (1.0, 1.0)


def test_a_bound_on_what_is_under_way(reader):
    """Goal: samples that do not come back are not piled up, and a tensor that is too large is left alone."""
    device = reader(Event())
    device._next_at = 0
    made = 0
    for _ in range(50):
        device._next_at = 0
        made += device.put([torch.ones(2)], lambda stats: None)
    assert made == 8
    assert not reader().put([torch.empty(1).expand(1 << 23)], lambda stats: None)


def test_a_whole_run_by_the_device_reader(run, script):
    """Goal: a program whose tensors are all read so trains as ever, and its gradients and weights are on record."""
    path = script("""
import torch
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for turn in range(40):
    loss = model(torch.randn(16, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.randn(300, 300) @ torch.randn(300, 300)
print(sum(float(parameter.double().sum()) for parameter in model.parameters()))
""")
    bare = run(path, probe=False)
    got = run(path, environment={"WHYSTOP_DEVICE_READER": "host"})
    assert (got.code, got.out, got.err) == (0, bare.out, bare.err)
    assert {item["what"] for item in got.of("stats")} >= {0, 1}
    assert not got.observations("probe-failure")
