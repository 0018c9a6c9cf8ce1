"""What of a model the gradient comes back to, and whether anything stands between its layers."""

import pytest

HEAD = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
"""
CELLS = HEAD + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(4, 8), nn.Linear(8, 3)
    def forward(self, x):
        h = torch.zeros(len(x), 8)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h{cut})
        return self.head(h)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    loss = nn.functional.cross_entropy(net(torch.randn(5, 6, 4)), torch.randint(0, 3, (5,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def test_a_state_that_is_cut_off_is_told_and_changes_nothing(run, script):
    program = script(CELLS.replace("{cut}", ".detach()"))
    got, bare = run(program), run(program, probe=False)
    assert (got.out, got.err, got.observations("probe-failure")) == (bare.out, bare.err, [])
    told = got.observations("gradient-reach")
    assert told and {(item["module"], item["calls"], item["reached"]) for item in told} == {("cell", 5, 1)}


def test_a_state_that_is_kept_is_not(run, script):
    got = run(script(CELLS.replace("{cut}", "")))
    assert got.observations("gradient-reach") == []


LAYERS = HEAD + """
net = {net}
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    loss = ((net(torch.randn(6, 4)).squeeze(1) - torch.randn(6)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "net, told",
    [
        ("nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))", (1, 0)),
        ("nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))", (1, 1)),
        ("nn.Sequential(nn.Linear(4, 1), nn.Tanh())", (0, 0)),  # What stands behind the last layer is the output's own.
        ("nn.Linear(4, 1)", (0, 0)),
        ("nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 6))", (1, 0, 1)),  # A table of low rank is meant so.
    ],
)
def test_what_stands_between_layers(run, script, net, told):
    seen = run(script(LAYERS.replace("{net}", net))).one("layers")
    assert (seen["chained"], seen["nonlinear"], seen["narrows"]) == (*told, 0)[:3]


DRAWN = HEAD + """
y = torch.randint(0, 3, (60,))
{inputs}
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "inputs, told",
    [
        ("x = torch.randn(60, 4)", 1),
        ("x = torch.randn(60, 4)\nx[:, 0] = y", 0),
        ("centres = torch.randn(3, 4)\nx = centres[y] + 0.1 * torch.randn(60, 4)", 0),
        ("x = y[:, None] * torch.ones(4) + torch.randn(60, 4)", 0),
    ],
)
def test_labels_that_the_inputs_are_made_of_are_no_mere_draw(run, script, inputs, told):
    assert len(run(script(DRAWN.replace("{inputs}", inputs))).observations("targets-drawn")) == told
