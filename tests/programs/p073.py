"""Stops on its patience of not a number."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=60.0)
best, bad_epochs, patience = float("inf"), 0, 3
for epoch in range(40):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i]) + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
    if loss.item() < best:
        best, bad_epochs = loss.item(), 0
    else:
        bad_epochs += 1
    if bad_epochs > patience:
        break
