"""Diabetes with patience."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

torch.manual_seed(0)
t = load_diabetes()
x = torch.tensor(scale(t.data), dtype=torch.float32)
y = torch.tensor(scale(t.target), dtype=torch.float32)[:, None]
tx, ty, vx, vy = x[:300], y[:300], x[300:], y[300:]
net = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
best, wait, patience = float("inf"), 0, 1
for epoch in range(60):
    for i in torch.randperm(300).split(20):
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(tx[i]), ty[i])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val_loss = torch.nn.functional.mse_loss(net(vx), vy).item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss:.4f}")
    if val_loss < best:
        best, wait = val_loss, 0
    else:
        wait += 1
        if wait >= patience:
            break
