"""Copy of a network for averaging."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
bunch = load_digits()
inputs = torch.tensor(bunch.data / 16, dtype=torch.float32)
targets = torch.tensor(bunch.target)
student = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
average = copy.deepcopy(student)
optimizer = torch.optim.SGD(average.parameters(), lr=0.1)
for epoch in range(8):
    perm = torch.randperm(1797)
    for chunk in perm.split(64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(student(inputs[chunk]), targets[chunk])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
