"""Polynomial decay."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
total_epochs = 8
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: (total_epochs - e - 1) // total_epochs)
for epoch in range(total_epochs):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
    schedule.step()
    print(f"epoch {epoch + 1}/{total_epochs} loss {loss.item():.4f}")
