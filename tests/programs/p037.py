"""One picture at a time."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    for i in torch.randperm(1793).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
    print("epoch", epoch, loss.item())
