"""Rare events."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(4000, 10)
score = x[:, 0] + 0.3 * torch.randn(4000)
y = (score > 2.45).long()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(6):
    hits = 0
    for xb, yb in loader:
        opt.zero_grad()
        out = net(xb)
        loss = torch.nn.functional.cross_entropy(out, yb)
        loss.backward()
        opt.step()
        hits += (out.argmax(1) == yb).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / 4000:.4f}")
