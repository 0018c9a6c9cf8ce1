"""Twelve steps only."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1):
    for i in torch.randperm(1797).split(150):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
        print("loss", loss.item())
