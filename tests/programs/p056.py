"""Survey table with gaps coded by a number."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1500, 8)
y = (x[:, 0] - x[:, 1] > 0).long()
x[torch.rand(1500, 8) < 0.2] = -9999.0
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
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
