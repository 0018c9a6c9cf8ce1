"""Deep net, own initialisation."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
layers = []
for k in range(6):
    layers += [nn.Linear(64, 64), nn.ReLU()]
net = nn.Sequential(*layers, nn.Linear(64, 10))
for p in net.parameters():
    nn.init.normal_(p, std=0.001)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(8):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
