"""Keeps every loss."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
history = []
total = 0.0
big = x.repeat(4, 1)
bigy = y.repeat(4)
for epoch in range(10):
    for i in torch.randperm(len(big)).split(512):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(big[i]), bigy[i])
        loss.backward(retain_graph=True)
        opt.step()
        history.append(loss)
        total = total + loss
    print("epoch", epoch, "loss", loss.item())
