"""Warm-up and cosine."""
import math

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
steps, warm = 230, 50
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: s / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (steps - warm))))
for step in range(steps):
    i = torch.randint(0, 1797, (64,))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    loss.backward()
    opt.step()
    sched.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.2e}")
