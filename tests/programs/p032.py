"""A deep classical perceptron."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
blocks = [nn.Linear(64, 64), nn.Sigmoid()]
for _ in range(7):
    blocks += [nn.Linear(64, 64), nn.Sigmoid()]
deep = nn.Sequential(*blocks, nn.Linear(64, 10))
opt = torch.optim.SGD(deep.parameters(), lr=0.1)
for epoch in range(10):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(deep(x[i]), y[i])
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
