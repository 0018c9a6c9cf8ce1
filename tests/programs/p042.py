"""Few samples, big network, long training."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 40)
y = (x[:, 0] + torch.randn(60) * 1.0 > 0).long()
vx = torch.randn(400, 40)
vy = (vx[:, 0] + torch.randn(400) * 1.0 > 0).long()
net = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(120):
    for i in torch.randperm(60).split(15):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = nn.functional.cross_entropy(net(vx), vy).item()
        train = nn.functional.cross_entropy(net(x), y).item()
    print(f"epoch {epoch} train_loss {train:.4f} val_loss {val:.4f}")
