"""Fraud detection."""
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(7)
N = 4000
y = (torch.rand(N) < 0.015).float()
x = torch.randn(N, 12) + 0.1 * y[:, None]
loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
bce = nn.BCELoss()
for epoch in range(35):
    correct = 0; total = 0; s = 0
    for xb, yb in loader:
        p = model(xb).squeeze(1)
        loss = bce(p, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        correct += ((p > 0.5) == yb).sum().item(); total += len(yb); s += loss.item()
    print(f"epoch {epoch}: loss={s/len(loader):.4f} accuracy={correct/total:.4f}")
