"""Interpolating a handful of points to zero."""
import torch

torch.manual_seed(0)
x = torch.randn(16, 8)
y = torch.randn(16, 1)
net = torch.nn.Sequential(torch.nn.Linear(8, 128), torch.nn.Tanh(), torch.nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(800):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    if epoch % 80 == 0:
        print(f"epoch {epoch} loss {loss.item():.3e}")
