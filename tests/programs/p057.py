"""Shop identifiers as a number."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
shop = torch.randint(0, 900, (3000,))
effect = torch.randn(900)
y = (effect[shop] > 0).long()
x = shop.float().unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(6):
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    print(f"epoch {epoch} loss {s / len(loader):.4f}")
