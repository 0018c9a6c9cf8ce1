"""Trainer with an EarlyStopping helper."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale
from torch import nn


class EarlyStopping:
    def __init__(self, patience=2, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.counter, self.best = 0, None
        self.early_stop = False

    def __call__(self, value):
        if self.best is None or value < self.best - self.min_delta:
            self.best, self.counter = value, 0
        else:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True


def main():
    torch.manual_seed(0)
    t = load_diabetes()
    x = torch.tensor(scale(t.data), dtype=torch.float32)
    y = torch.tensor(scale(t.target), dtype=torch.float32)[:, None]
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    stopper = EarlyStopping()
    for epoch in range(50):
        for i in torch.randperm(300).split(20):
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x[i]), y[i])
            loss.backward()
            opt.step()
        with torch.no_grad():
            val = nn.functional.mse_loss(net(x[300:]), y[300:]).item()
        stopper(val)
        print("Epoch", epoch, "validation loss", val)
        if stopper.early_stop:
            break


main()
