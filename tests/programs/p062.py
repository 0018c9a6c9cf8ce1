"""Guarded loop."""
import sys

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 8)
y = x.pow(2).sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.8)
for step in range(500):
    i = torch.randint(0, 400, (32,))
    loss = nn.functional.mse_loss(net(x[i]), y[i])
    if not torch.isfinite(loss):
        print("stopping")
        sys.exit(1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4g}")
