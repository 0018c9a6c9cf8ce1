"""The classical look-alikes: one program, whose loss stays where it was for eight different reasons, and twins that are well.

Each differs from the healthy program in what is given for it here, and in nothing else."""

BASE = '''
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(1200, 8)
y = (X[:, 0] * X[:, 1] > 0).long() + 2 * (X[:, 2] * X[:, 3] > 0).long()
{labels}
net = {net}
{after}
opt = torch.optim.Adam(net.parameters(), lr={lr})
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=32, shuffle=True)
for epoch in range({epochs}):
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), "last.pt")
    print(epoch, loss.item())
'''
NET = "nn.Sequential(nn.Linear(8, 48), nn.{0}(), nn.Linear(48, 48), nn.{0}(), nn.Linear(48, 4))"
HEALTHY = dict(labels="", net=NET.format("ReLU"), after="", lr="0.005", epochs="12")
SICK = {
    "lr-too-high": dict(lr="3.0"),
    "lr-too-low": dict(lr="3e-7"),
    "labels-random": dict(labels="y = y[torch.randperm(1200)]"),
    "capacity-too-small": dict(net="nn.Linear(8, 4)"),
    "not-enough-steps": dict(epochs="2", lr="0.0015"),
    "dead-relu": dict(after="nn.init.constant_(net[2].bias, -30.0)"),
    "saturation": dict(net=NET.format("Tanh"), after="[nn.init.normal_(layer.weight, std=40.0) for layer in (net[0], net[2])]"),
    "frozen-params": dict(after="net.requires_grad_(False); net[4].bias.requires_grad_(True)"),
}
# What a proof may call it: saturated units by large weights are saturation, and the weights are why; labels that were dealt out anew
# are random, or those of other samples, which no trial tells apart.
NAMES = {cause: {cause} for cause in SICK} | {"saturation": {"saturation", "bad-init-scale"}, "labels-random": {"labels-random", "labels-misaligned"}}
WELL = {
    "as it should be": {},
    "a third of the labels wrong": dict(labels="y = torch.where(torch.rand(1200) < 0.3, torch.randint(0, 4, (1200,)), y)", epochs="25"),
    "a high rate that works": dict(lr="0.03"),
    "first layer frozen and good enough": dict(net=NET.format("ReLU").replace("48", "256"), after="net[0].requires_grad_(False)"),
    "some units dead": dict(after="net[2].bias.data[:8].fill_(-30.0)"),
    "tanh": dict(net=NET.format("Tanh"), lr="0.01"),
    "dropout": dict(net=NET.format("Dropout(0.2), nn.ReLU")),
}


def program(changes):
    return BASE.format(**{**HEALTHY, **changes})
