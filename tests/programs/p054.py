"""Sorted table."""
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
order = d.target.argsort(kind="stable")
x = torch.tensor(d.data[order] / 16, dtype=torch.float32)
y = torch.tensor(d.target[order])
loader = DataLoader(TensorDataset(x, y), batch_size=32)
net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    for xb, yb in loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
