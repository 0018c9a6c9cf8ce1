"""Scripts as strangers write them, with real torch: plan, progress, losses and the exit line are on record."""

import pytest

HEAD = """
import torch, torch.nn as nn
torch.manual_seed(1)
torch.set_num_threads(1)
X = torch.randn(96, 6)
Y = (X.sum(1) > 0).long()
"""

PLAIN_SCRIPT = (
    HEAD
    + """
from torch.utils.data import DataLoader, TensorDataset
train_loader = DataLoader(TensorDataset(X, Y), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(X, Y), batch_size=32)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
num_epochs = 40
best_val, patience, counter = 0.0, 3, 0
for epoch in range(num_epochs):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    val_loss = 0.0
    with torch.no_grad():
        for inputs, targets in val_loader:
            val_loss += criterion(model(inputs), targets).item()
    if val_loss < best_val:
        best_val, counter = val_loss, 0
    else:
        counter += 1
        if counter >= patience:
            print("early stop")
            break  # HERE
"""
)

FUNCTIONS = (
    HEAD
    + """
def batches(size):
    for start in range(0, len(X), size):
        yield X[start:start + size], Y[start:start + size]

def train_one_epoch(model, optimizer):
    total = 0.0
    for x, y in batches(16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total

def main(epochs=8):
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for epoch in range(1, epochs + 1):
        history.append(train_one_epoch(model, optimizer))
        if epoch > 4 and history[-1] > 0:
            return history  # HERE
    return history

if __name__ == "__main__":
    main()
"""
)

TRAINER_CLASS = (
    HEAD
    + """
class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.counter, self.early_stop = patience, 0, False
    def __call__(self, value):
        self.counter += 1
        if self.counter >= self.patience:
            self.early_stop = True

class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config["lr"])
        self.stopper = EarlyStopping(2)
    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()
    def fit(self):
        for epoch in range(self.config["epochs"]):
            for i in range(6):
                value = self.step(X[i * 16:(i + 1) * 16], Y[i * 16:(i + 1) * 16])
            self.stopper(value)
            if self.stopper.early_stop:
                print("stopping early")
                break  # HERE

Trainer({"epochs": 12, "lr": 1e-3}).fit()
"""
)

WHILE_LOOP = (
    HEAD
    + """
from torch.utils.data import DataLoader, TensorDataset
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = iter(DataLoader(TensorDataset(X, Y), batch_size=16))
step, max_steps = 0, 1000
while step < max_steps:
    try:
        x, y = next(loader)
    except StopIteration:
        break  # HERE
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
"""
)


def line_of(text):
    return next(number for number, line in enumerate(text.splitlines(), 1) if "# HERE" in line)


@pytest.mark.parametrize(
    "text, steps, how, planned, turn",
    [
        (PLAIN_SCRIPT, 18, "break", 40, 3),
        (FUNCTIONS, 30, "return", 8, 5),
        (TRAINER_CLASS, 12, "break", 12, 2),
        (WHILE_LOOP, 6, "break", 1000, 6),
    ],
    ids=["script", "functions", "trainer class", "while"],
)
def test_plan_progress_losses_and_exit(run, script, text, steps, how, planned, turn):
    got = run(script(text))
    assert (got.code, got.err) == (0, "")
    assert got.observations("probe-failure") == []
    assert len(got.losses()) == steps and all(0 < loss < 10 for loss in got.losses())
    left = got.observations("loop-exit")[-1]
    assert (left["how"], left["line"]) == (how, line_of(text))
    assert (left["planned"], left["turn"]) == (planned, turn)
    assert got.one("model")["parameters"] > 0


def test_stopper_values_are_read_at_the_exit(run, script):
    left = run(script(TRAINER_CLASS)).observations("loop-exit")[-1]
    assert left["condition"] == "self.stopper.early_stop"
    assert "self.stopper.early_stop=True" in left["values"]


def test_notebook_style_cells(run, script):
    """Cells are compiled from text that linecache knows, as IPython does it."""
    cell = """
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), Y)
    loss.backward()
    optimizer.step()
    if epoch == 3:
        break
print("cell done")
"""
    path = script(
        HEAD
        + f"""
import linecache
cell = {cell!r}
name = "<ipython-input-7-abc>"
linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
exec(compile(cell, name, "exec"), globals())
"""
    )
    got = run(path)
    left = got.observations("loop-exit")[-1]
    assert (left["how"], left["line"], left["turn"], left["planned"]) == ("break", 10, 4, 9)


def test_a_run_that_forgets_backward_or_step_is_visible(run, script):
    text = HEAD + """
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), Y)
    {line}
"""
    got = run(script(text.format(line="loss.backward()")))
    counts = got.observations("counts")[-1]
    assert (counts["steps"], counts["backwards"], counts["zero_grads"], counts["loss_calls"]) == (0, 5, 5, 5)
    got = run(script(text.format(line="optimizer.step()")))
    counts = got.observations("counts")[-1]
    assert (counts["steps"], counts["backwards"]) == (5, 0)
    assert got.observations("parameter-without-gradient")[0]["count"] == 2
    got = run(script(text.format(line="pass")))
    counts = got.observations("counts")[-1]
    assert (counts["steps"], counts["backwards"], counts["loss_calls"]) == (0, 0, 5)
    assert got.observations("loop-plan")[-1]["planned"] == 5


HAND_WRITTEN = """
import torch
torch.manual_seed(1)
torch.set_num_threads(1)
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(5):
    x = torch.randn(16, 6)
    loss = ((net(x){squeeze} - x.sum(1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_difference_of_all_pairs_is_told(run, script):
    got = run(script(HAND_WRITTEN.replace("{squeeze}", "")))
    seen = got.one("broadcast-difference")
    assert (seen["output_shape"], seen["shape"]) == ("16x1", "16x16")


def test_a_difference_of_all_pairs_is_told_through_a_longer_formula(run, script):
    text = HAND_WRITTEN.replace("((net(x){squeeze} - x.sum(1)) ** 2).mean()", "huber(net(x), x.sum(1))")
    huber = """
def huber(output, target):
    error = (output - target).abs()
    small = torch.clamp(error, max=1.0)
    return (0.5 * small ** 2 + 1.0 * (error - small)).mean()
"""
    got = run(script(huber.join(text.split("torch.manual_seed(1)\n"))))
    assert got.one("broadcast-difference")["shape"] == "16x16"


def test_a_difference_of_equal_shapes_is_not(run, script):
    got = run(script(HAND_WRITTEN.replace("{squeeze}", ".squeeze(1)")))
    assert got.observations("broadcast-difference") == []


ALIKE = (
    HEAD
    + """
net = nn.Sequential(nn.Linear(6, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU(), nn.Linear(48, 2))
for parameter in net.parameters():
    nn.init.constant_(parameter, 0.05)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(120):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(X), Y).backward()
    optimizer.step()
    if step == ROUNDED:
        with torch.no_grad():
            net[0].weight[3] *= 1 + CHANGE
"""
)


@pytest.mark.parametrize("change, alike", [(2e-7, 3), (0.1, 2)])
def test_units_that_rounding_alone_tells_apart_are_alike(run, script, change, alike):
    got = run(script(ALIKE.replace("ROUNDED", "90").replace("CHANGE", str(change))))
    assert got.observations("probe-failure") == []
    seen = got.observations("identical-rows")
    assert [item["count"] for item in seen] == [3, alike], seen
