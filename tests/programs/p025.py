"""Encoder and head."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2), nn.Tanh())
        self.head = nn.Linear(2, 10)

    def forward(self, x):
        z = self.encoder(x)
        return self.head(z.detach())


torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
m = Model()
opt = torch.optim.Adam(m.parameters(), lr=2e-3)
for epoch in range(8):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(m(x[i]), y[i])
        loss.backward()
        opt.step()
    print("epoch", epoch, "train_loss", loss.item())
