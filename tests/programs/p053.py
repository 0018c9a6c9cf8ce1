"""Pixels divided twice."""
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 255 / 255
loader = DataLoader(TensorDataset(x, torch.tensor(d.target)), batch_size=64, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(8):
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    print(f"epoch {epoch} loss {s / len(loader):.4f}")
