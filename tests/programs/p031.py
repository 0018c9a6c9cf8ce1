"""Regression with rectifiers."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1000, 8)
y = (x[:, :1] * 2 - x[:, 1:2]).abs()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    net[2].bias.fill_(-30.0)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(12):
    for i in torch.randperm(1000).split(50):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
