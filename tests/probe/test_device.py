"""The reader of tensors on a device, forced onto tensors in host memory: same numbers, nothing that waits, late arrivals."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from whystop_probe.torch.device import DeviceReader
from whystop_probe.torch.late import LateValues
from whystop_probe.torch.tensors import Reader

# Whatever needs a value on the host, or makes a result whose size depends on values.
WAITING = ("_local_scalar_dense", "item", "nonzero", "is_nonzero", "masked_select", "unique", "equal", "allclose")


class Pulse:
    late_waiting = False


class Span:
    """Of a stream that completes when it is told to."""

    done, took = False, 0.0

    def end(self):
        pass

    def query(self):
        return self.done

    def seconds(self):
        return self.took


class NoWaiting(TorchDispatchMode):
    def __init__(self, refused=WAITING):
        super().__init__()
        self._refused = refused  # None: everything that computes.

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name().split("::")[-1].split(".")[0]
        assert self._refused is not None or name in ("detach", "ones")
        assert name not in WAITING, f"{name} waits for the device"
        if name == "copy_":
            assert args[2:3] == (True,) or (kwargs or {}).get("non_blocking"), "a copy that blocks"
        return function(*args, **(kwargs or {}))


@pytest.fixture
def reader(monkeypatch):
    monkeypatch.setenv("WHYSTOP_DEVICE_READER", "host")

    def make(span=None):
        return DeviceReader(torch, Pulse(), (lambda tensor: span) if span is not None else None)

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
    assert device.reduce([*tensors(), None], got.extend)
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
    device = reader(Span())
    # A tensor out of order is first copied on its own device, which looks like a copy that blocks where all is host memory.
    ordered = [tensor for tensor in tensors() if tensor.is_contiguous()]
    with NoWaiting():
        assert device.reduce(ordered, lambda stats: None)
        assert device.bring([torch.ones(30, 2), torch.ones(30)], lambda here: None)
        assert device.take()


def test_what_arrives_late_is_told_late(reader):
    """Goal: nothing is read before the stream says that it is done, and then with nothing lost."""
    span, got, rows = Span(), [], []
    device = reader(span)
    tensor = torch.ones(4)
    assert device.reduce([tensor], got.extend)
    assert device.bring([tensor], rows.extend)
    tensor.fill_(9.0)  # The training goes on.
    assert device.take() and not got
    span.done = True
    assert not device.take()
    assert got[0][4:6] == (1.0, 1.0)
    assert rows[0].tolist() == [1.0] * 4


def test_rows_of_large_tensors(reader):
    """Goal: of a batch that is too large the leading rows are copied, as many of the labels as of the inputs."""
    got = []
    device = reader()
    inputs, labels = torch.arange(1 << 16).reshape(-1, 64), torch.arange(1 << 10)
    assert device.bring([inputs, labels, torch.tensor(3.0)], got.extend)
    device.take()
    assert got[0].equal(inputs[:256]) and got[1].equal(labels[:256]) and got[2].item() == 3.0


def test_a_budget_for_the_devices_time(reader):
    """Goal: a sample that kept the device busy for a second is not followed by another one; single values still come."""
    span = Span()
    span.done, span.took = True, 1.0
    device = reader(span)
    assert device.reduce([torch.ones(4)], lambda stats: None)
    device.take()
    assert not device.reduce([torch.ones(4)], lambda stats: None)
    assert not device.bring([torch.ones(4)], lambda here: None)
    assert device.bring([torch.ones(())], lambda here: None, always=True)


def test_nothing_while_a_compiler_traces_or_a_stream_is_captured(reader, monkeypatch):
    """Goal: no operation of ours gets into a compiled function or a captured graph."""
    device = reader(Span())
    monkeypatch.setattr(device, "_captured", lambda tensor: True)
    with NoWaiting(refused=None):
        assert not device.reduce([torch.ones(4)], lambda stats: None)
        assert not device.bring([torch.ones(())], lambda here: None, always=True)
    monkeypatch.undo()
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert DeviceReader(torch, Pulse())._captured(torch.ones(1))


def test_a_bound_on_what_is_under_way(reader):
    """Goal: samples that do not come back are not piled up, and a tensor that is too large is left alone."""
    device = reader(Span())
    made = sum(device.bring([torch.ones(())], lambda here: None, always=True) for _ in range(500))
    assert made == 96
    assert not reader().reduce([torch.empty(1).expand(1 << 23)], lambda stats: None)


class Short:
    """A training whose steps take a millisecond."""

    class governor:
        step_s = 0.001
        spent = []

        @classmethod
        def spend(cls, what, units, seconds):
            cls.spent.append(what)

    class pulse(Pulse):
        step = 0


def test_losses_of_short_steps_come_together(monkeypatch):
    """Goal: a copy costs the host more than all else that a short step is asked for: one holds the losses of many, and is paid for."""
    monkeypatch.setenv("WHYSTOP_DEVICE_READER", "host")
    training, told = Short(), []
    late = LateValues(torch, training)
    for step in range(40):
        training.pulse.step = step
        loss = torch.tensor([float(step)] if step % 2 else float(step), dtype=torch.float64 if step == 3 else torch.float32)
        late.put_loss(loss, lambda *found: told.append(found))
        if step == 5:
            loss += 1  # Whatever it was, it is gone.
    assert not told
    late.take()
    assert sorted(told) == [(step + 1, float(step)) for step in range(len(told) + 1) if step != 5]
    assert 16 <= len(told) < 39
    late.send()
    late.take()
    assert len(told) == 39
    assert {"late", "taken"} <= set(training.governor.spent)


PROGRAM = """
import torch
torch.manual_seed(1)
data = torch.utils.data.TensorDataset(torch.randn(400, 4), torch.randint(0, 3, (400,)))
loader = torch.utils.data.DataLoader(data, batch_size=20, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
optimizer, lossfn = torch.optim.SGD(model.parameters(), lr=0.1), torch.nn.CrossEntropyLoss()
def train():
    for epoch in range(8):
        for x, y in loader:
            loss = lossfn(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            torch.randn(300, 300) @ torch.randn(300, 300)
"""
RESULT = "print(sum(float(parameter.double().sum()) for parameter in model.parameters()))\n"
FORCED = {"WHYSTOP_DEVICE_READER": "host"}
# Whatever the probe asks of a tensor, but of what has been copied already.
GUARDED = """
import sys
from torch.utils._python_dispatch import TorchDispatchMode
from whystop_probe.torch.device import DeviceReader
class NoWaiting(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name().split("::")[-1].split(".")[0]
        if name in %r and not given[0] and by_probe(sys._getframe()):
            waited.append(name)
        return function(*args, **(kwargs or {}))
def by_probe(frame):
    return frame is not None and ("whystop_probe" in frame.f_code.co_filename or by_probe(frame.f_back))
given, waited, take = [0], [], DeviceReader.take
def taking(reader):
    given[0] += 1
    try:
        return take(reader)
    finally:
        given[0] -= 1
DeviceReader.take = taking
with NoWaiting():
    exec(compile("torch.ones(1).item()", "whystop_probe/tried.py", "exec"))
    assert waited.pop() == "_local_scalar_dense"
    train()
print("waited for", sorted(set(waited)))
""" % (WAITING,)


def test_a_whole_run_by_the_device_reader(run, script):
    """Goal: a program whose tensors are all read so trains as ever, and all that is told of one in host memory is told of it too."""
    path = script(PROGRAM + "train()\n" + RESULT)
    bare = run(path, probe=False)
    plain = run(path)
    got = run(path, environment=FORCED)
    assert (got.code, got.out, got.err) == (0, bare.out, bare.err)
    assert not got.observations("probe-failure")
    assert {item["what"] for item in got.of("stats")} == {item["what"] for item in plain.of("stats")} >= {0, 1, 2}
    told = {item["kind"] for item in plain.of("observation")}
    assert told - {item["kind"] for item in got.of("observation")} <= {"overhead", "columns"}  # On a busy machine the budget leaves rows out.
    for kind in ("batch", "model-input", "loss-call", "labels", "initial-gain"):
        ours, theirs = got.observations(kind)[0], plain.observations(kind)[0]
        assert {name: value for name, value in ours.items() if name != "step"} == pytest.approx({name: value for name, value in theirs.items() if name != "step"}), kind
    losses = [(item["step"], item["value"]) for item in got.of("scalar") if item["name"] == "loss"]
    assert [value for _, value in losses] == pytest.approx(plain.losses()[: len(losses)])
    assert len(losses) >= 159  # The last one may still have been on its way.


def test_a_whole_run_waits_for_nothing(run, script):
    """Goal: no hook of the probe asks a tensor of the training for a value, or for a result whose size hangs on values."""
    got = run(script(PROGRAM + GUARDED + RESULT), environment=FORCED)
    assert got.code == 0, got.err
    assert "waited for []" in got.out
    assert got.observations("loss-call") and got.observations("batch") and got.observations("model-input")
