"""A patience counter that compares with NaN."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
best, wait, patience = float("inf"), 0, 10
for epoch in range(200):
    total = 0.0
    for i in range(0, 256, 32):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[i:i + 32]), y[i:i + 32])
        loss.backward()
        optimizer.step()
        total += loss.item()
    if total < best:
        best, wait = total, 0
    else:
        wait += 1
    print("epoch", epoch, "train_loss", total / 8)
    if wait >= patience:
        print("stopping early")
        break
