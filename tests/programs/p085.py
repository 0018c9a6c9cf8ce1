"""Inputs and labels were shuffled, each by itself."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

np.random.seed(0)
torch.manual_seed(0)
d = load_digits()
X, y = d.data / 16.0, d.target
np.random.shuffle(X)
np.random.shuffle(y)
X, y = torch.FloatTensor(X), torch.LongTensor(y)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(12):
    for i in range(0, 1500, 50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(X[i:i + 50]), y[i:i + 50])
        loss.backward()
        opt.step()
    print("Epoch %d train loss %.4f" % (epoch, loss.item()))
