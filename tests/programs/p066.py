"""Budget of steps from a stream."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(960, 10)
y = (x[:, 0] > 0).long()
net = nn.Linear(10, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
stream = iter([(x[k:k + 32], y[k:k + 32]) for k in range(0, 960, 32)])
for step in range(500):
    xb, yb = next(stream)
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(xb), yb)
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print("step", step, "loss", loss.item())
