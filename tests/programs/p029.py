"""Network with constant start values."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)


def build():
    seq = nn.Sequential(nn.Linear(64, 50), nn.Sigmoid(), nn.Linear(50, 50), nn.Sigmoid(), nn.Linear(50, 10))
    for layer in seq:
        if isinstance(layer, nn.Linear):
            nn.init.constant_(layer.weight, 0.05)
            nn.init.zeros_(layer.bias)
    return seq


net = build()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(8):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
