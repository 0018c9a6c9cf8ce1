"""Diabetes progression."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
t = load_diabetes()
ds = TensorDataset(torch.tensor(scale(t.data), dtype=torch.float32), torch.tensor(scale(t.target), dtype=torch.float32))
dl = DataLoader(ds, batch_size=34, shuffle=True)
reg = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(reg.parameters(), lr=5e-3)
mse = torch.nn.MSELoss()
for epoch in range(25):
    acc = 0
    for a, b in dl:
        opt.zero_grad()
        loss = mse(reg(a), b)
        loss.backward()
        opt.step()
        acc += loss.item()
    print(f"Epoch {epoch + 1}/25 loss {acc / len(dl):.4f}")
