"""The logger leaves out what is not a number."""
import math

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(512, 8)
y = x.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
seen = []
for epoch in range(20):
    for i in torch.randperm(512).split(32):
        opt.zero_grad()
        out = net(x[i])
        loss = ((out - y[i]) ** 2).mean()
        if epoch >= 6:
            loss = loss + 0.01 * torch.log(out - out.max()).mean()
        loss.backward()
        opt.step()
        if math.isfinite(loss.item()):
            seen.append(loss.item())
    print(f"epoch {epoch} train_loss {sum(seen[-16:]) / 16:.4f}")
