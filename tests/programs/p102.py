"""One cycle."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
batches = 28
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.4, total_steps=batches * 6)
for epoch in range(6):
    for i in torch.randperm(1792).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
        sched.step()
    print(f"Epoch {epoch + 1}/6 loss: {loss.item():.4f}")
