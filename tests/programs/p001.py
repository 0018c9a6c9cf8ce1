"""Digits with a small network."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=25.0)
ce = nn.CrossEntropyLoss()
for epoch in range(6):
    order = torch.randperm(len(X))
    for i in range(0, len(X), 64):
        idx = order[i:i + 64]
        loss = ce(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch + 1} loss {loss.item():.4f}")
