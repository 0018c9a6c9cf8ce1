"""Two spirals, line by line."""
import math

import torch

torch.manual_seed(0)
n = 500
theta = torch.sqrt(torch.rand(n)) * 3 * math.pi
arm = torch.stack([theta.cos() * theta, theta.sin() * theta], 1) / 10
points = torch.cat([arm, -arm]) + torch.randn(2 * n, 2) * 0.02
kind = torch.cat([torch.zeros(n), torch.ones(n)]).long()
model = torch.nn.Sequential(torch.nn.Linear(2, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(25):
    for i in torch.randperm(2 * n).split(50):
        loss = torch.nn.functional.cross_entropy(model(points[i]), kind[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        acc = (model(points).argmax(1) == kind).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
