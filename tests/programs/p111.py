"""Running mean on the screen."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(5):
    running = 0.0
    for n, i in enumerate(torch.randperm(1797).split(32), 1):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
        running += loss.item()
        if n % 10 == 0:
            print(f"[{epoch + 1}, {n:5d}] loss: {running / n:.3f}")
