"""Eight layers of sigmoids."""
import torch, torch.nn as nn
from sklearn.datasets import load_digits
torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16, dtype=torch.float32); y = torch.tensor(y)
layers = [nn.Linear(64, 50), nn.Sigmoid()]
for _ in range(7): layers += [nn.Linear(50, 50), nn.Sigmoid()]
layers += [nn.Linear(50, 10)]
model = nn.Sequential(*layers)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(15):
    idx = torch.randperm(len(X)); tot = 0
    for i in range(0, len(X), 64):
        b = idx[i:i+64]
        loss = nn.functional.cross_entropy(model(X[b]), y[b])
        opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item() * len(b)
    print(f"{epoch}: {tot/len(X):.4f}")
