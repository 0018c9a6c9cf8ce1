"""Stream with a guard."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(960, 10)
y = (x[:, 0] > 0).long()
net = nn.Linear(10, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
stream = iter([(x[k:k + 32], y[k:k + 32]) for k in range(0, 960, 32)])
max_steps = 500
step = 0
while step < max_steps:
    try:
        xb, yb = next(stream)
    except StopIteration:
        break
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(xb), yb)
    loss.backward()
    opt.step()
    step += 1
    if step % 10 == 0:
        print("step", step, "loss", loss.item())
