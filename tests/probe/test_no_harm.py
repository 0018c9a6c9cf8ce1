"""The probe's own trouble stays its own: faults in every hook, nothing kept alive, tracebacks as ever."""

import os

import pytest

from conftest import PYTHON_FOLDER, SCRIPTS

FAULTY = """
import sys
sys.path.insert(0, {folder!r})
import whystop_probe.core.guard
spared = ("_after_torch", "_before_framework", "_Observers._attach_rest", "tell_totals", "_Observers._tell_totals", "_Observers.tell_end")
def fail(function):
    if function.__qualname__ not in spared:
        raise ZeroDivisionError("injected")
whystop_probe.core.guard.inject = fail
sys.path.pop(0)
bootstrap = {bootstrap!r}
sys.path.append(bootstrap[: -len("/sitecustomize.py")])
del sys.modules["sitecustomize"]
here, sys.path[0] = sys.path[0], sys.path[-1]
import sitecustomize
"""


def test_a_fault_in_every_hook_changes_nothing(run, tmp_path):
    """Goal: whatever fails inside a hook, the run's output, errors and exit code are those of a bare run.
    Method: a sitecustomize that makes every guarded function raise, then starts the probe as usual."""
    folder = tmp_path / "faulty"
    folder.mkdir()
    bootstrap = os.path.join(PYTHON_FOLDER, "bootstrap", "sitecustomize.py")
    (folder / "sitecustomize.py").write_text(FAULTY.format(folder=PYTHON_FOLDER, bootstrap=bootstrap))
    names = ("mlp", "scaler", "nan", "lbfgs")
    bare = run(os.path.join(SCRIPTS, "identical.py"), *names, probe=False)
    got = run(os.path.join(SCRIPTS, "identical.py"), *names, first_on_path=str(folder))
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    failed = {item["what"] for item in got.observations("probe-failure")}
    assert len(failed) == 8, "as many kinds of failure as are kept"
    assert all("ZeroDivisionError" in item for item in failed)


KEPT = """
import gc, torch, weakref
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
seen = []
def train():
    for epoch in range(2):
        for turn in range(30):
            x, y = torch.randn(8, 4), torch.randn(8, 1)
            optimizer.zero_grad()
            output = model(x)
            loss = torch.nn.functional.mse_loss(output, y)
            loss.backward()
            optimizer.step()
            seen.append([weakref.ref(item) for item in (x, y, output, loss)])
            alive = [len(seen) - index for index, items in enumerate(seen) if any(item() is not None for item in items)]
            assert alive in ([1], [2, 1]), (epoch, turn, alive)
gc.disable()
train()
print("alive after the loop:", sum(item() is not None for items in seen for item in items))
references = [weakref.ref(item) for item in (model, optimizer, *model.parameters())]
del model, optimizer
gc.collect()
print("alive after del:", sum(item() is not None for item in references))
"""


def test_keeps_no_tensor_alive(run, script):
    path = script(KEPT)
    bare, got = run(path, probe=False), run(path)
    assert bare.out == "alive after the loop: 0\nalive after del: 0\n", bare.err
    assert (got.out, got.err, got.code) == (bare.out, bare.err, 0)
    assert len(got.of("step")) == 60


TROUBLE = """
import torch, traceback, warnings
warnings.simplefilter("always")
F = torch.nn.functional
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([1, "a", 3], batch_size=3)
for trouble in (
    lambda: F.cross_entropy(model(torch.zeros(2, 3)), torch.tensor([0, 7])),
    lambda: F.mse_loss(torch.zeros(3, 1), torch.zeros(3)),
    lambda: torch.nn.MSELoss()(torch.zeros(2, 1), torch.zeros(2)),
    lambda: model(torch.zeros(2, 3)).backward(),
    lambda: next(iter(loader)),
    lambda: torch.nn.utils.clip_grad_norm_(model.parameters(), "much"),
    lambda: torch.amp.GradScaler("cpu").step(optimizer),
):
    try:
        trouble()
    except Exception:
        traceback.print_exc()
scripted = torch.jit.script(torch.nn.CrossEntropyLoss())
print(scripted(torch.zeros(2, 3), torch.tensor([0, 1])))
raise SystemExit(3)
"""


def test_tracebacks_warnings_and_torchscript_are_as_ever(run, script):
    path = script(TROUBLE)
    bare, got = run(path, probe=False), run(path)
    assert "Target 7 is out of bounds" in bare.err
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)


@pytest.mark.parametrize("raised", ["TimeoutError", "KeyboardInterrupt"])
def test_a_signal_handler_may_raise_through_a_hook(run, script, raised):
    """The user's handler runs wherever the program is, in a hook too; its exception is the user's."""
    path = script(
        f"""
import sys
sys.path.insert(0, {PYTHON_FOLDER!r})
from whystop_probe.core.guard import quiet
def handler():
    raise {raised}("mine")
@quiet
def hook():
    handler()
try:
    hook()
except BaseException as error:
    print(type(error).__name__)
"""
    )
    assert run(path, probe=False).out == f"{raised}\n"


INTERRUPTED = """
import signal, sys, torch
guard = sys.modules.get("whystop_probe.core.guard")
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

def at_once(function):
    if function.__qualname__ == "LoopWatch.on_event":
        guard.inject = None
        signal.raise_signal(signal.SIGINT)

for step in range(50):
    if step == 5:
        guard.inject = at_once
    loss = net(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_ctrl_c_that_finds_the_probe_at_work_shows_the_users_frames_alone(run, script):
    got = run(script(INTERRUPTED))
    assert got.code == -2 and "KeyboardInterrupt" in got.err and "train.py" in got.err
    assert "whystop_probe" not in got.err, got.err


DYING = """
import gc, signal, weakref
import torch
from torch import nn
def made():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    return model, torch.optim.SGD(model.parameters(), lr=0.1), iter(torch.utils.data.DataLoader(torch.zeros(4, 2)))
for turn in range(3):
    model, optimizer, rows = made()
    model(next(rows)).sum().backward()
    optimizer.step()
python = [type(owner).__name__ for owner in (model, *model, optimizer, rows) for known in weakref.getweakrefs(owner)
          if hasattr(known.__callback__, "__code__")]
print("callbacks in Python:", python)
"""


def test_no_python_of_ours_runs_where_an_object_dies(run, script):
    """An interrupt that comes within a weak reference's callback is swallowed: a Ctrl-C would be lost."""
    bare, got = run(script(DYING), probe=False), run(script(DYING))
    assert bare.code == 0 and "callbacks in Python" in bare.out, bare.err
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert got.observations("optimizer") and got.observations("loader"), "the probe was there"
