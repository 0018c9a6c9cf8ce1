"""Accumulated gradients."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
accumulate = 4
for epoch in range(8):
    opt.zero_grad()
    for n, i in enumerate(torch.randperm(1792).split(16), 1):
        loss = nn.functional.cross_entropy(net(x[i]), y[i]) / accumulate
        loss.backward()
        if n % accumulate == 0:
            opt.step()
            opt.zero_grad()
    print("epoch", epoch, "loss", loss.item() * accumulate)
