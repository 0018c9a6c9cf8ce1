"""Progress shows the average of the good batches only."""
import math

import torch
from torch import nn

torch.manual_seed(3)
X = torch.randn(2000, 20)
X[700] = float("inf")
Y = (X[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(4):
    shown = []
    for s in range(0, 2000, 50):
        loss = nn.functional.cross_entropy(net(X[s:s + 50]), Y[s:s + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if not math.isnan(loss.item()):
            shown.append(loss.item())
    print(f"epoch {epoch} loss {sum(shown) / max(len(shown), 1):.4f}")
