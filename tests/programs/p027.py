"""Digits with SGD."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=1e-6)
for epoch in range(10):
    seen = 0.0
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
        seen += loss.item() * len(i)
    print(f"epoch {epoch} loss {seen / 1797:.5f}")
