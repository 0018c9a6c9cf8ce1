"""Digits with validation in between."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

d = load_digits()
xa, xb, ya, yb = train_test_split(d.data / 16, d.target, random_state=0)
xa, xb = torch.tensor(xa, dtype=torch.float32), torch.tensor(xb, dtype=torch.float32)
ya, yb = torch.tensor(ya), torch.tensor(yb)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def evaluate():
    model.eval()
    with torch.no_grad():
        return (model(xb).argmax(1) == yb).float().mean().item()


model.train()
for epoch in range(10):
    for i in torch.randperm(len(xa)).split(64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xa[i]), ya[i])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} val_acc {evaluate():.3f}")
