"""Scaled training loop as on a GPU, here on the CPU."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16)
w = torch.randn(16, 1)
y = x @ w
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16)
for step in range(120):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    diff = (out.float() - y)
    loss = (diff ** 2).mean() + torch.sqrt((diff.abs() * 0).sum())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale()}")
