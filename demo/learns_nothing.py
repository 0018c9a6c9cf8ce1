"""PyTorch: the head is replaced after the optimizer was built, so the new one is never trained."""

import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(2048, 20)
labels = (inputs[:, :4] @ torch.randn(4, 5)).argmax(1)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1000))
for parameter in model[0].parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
model[2] = nn.Linear(64, 5)  # Five classes instead of a thousand.

for epoch in range(8):
    for batch in torch.randperm(len(inputs)).split(32):
        loss = nn.functional.cross_entropy(model(inputs[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}/8 loss {loss.item():.4f}", flush=True)
