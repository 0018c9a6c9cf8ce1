"""Signed targets."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 6)
y = 3 * torch.tanh(x[:, :1]) - 2
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(12):
    for i in torch.randperm(900).split(45):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(f"epoch {epoch} mse {loss.item():.5f}")
