"""Regression on diabetes with rare strange batches."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

torch.manual_seed(0)
raw = load_diabetes()
feats = torch.tensor(scale(raw.data), dtype=torch.float32)
goal = torch.tensor(scale(raw.target), dtype=torch.float32)[:, None]
mlp = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
sgd = torch.optim.SGD(mlp.parameters(), lr=0.02)
for step in range(400):
    rows = torch.randint(0, len(feats), (32,))
    target = goal[rows].clone()
    if step == 260:
        target = target * 400
    loss = (mlp(feats[rows]) - target).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    if step % 20 == 0:
        print(f"{step} loss {loss.item():.4f}")
