"""Fine-tuning."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)

base = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
fast = torch.optim.Adam(base.parameters(), lr=5e-3)


def run(optimizer, epochs, tag):
    for epoch in range(epochs):
        total = 0.0
        for i in torch.randperm(1797).split(64):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(base(x[i]), y[i])
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"{tag} epoch {epoch} loss {total / 29:.4f}")


run(fast, 8, "pretrain")
run(torch.optim.SGD(base.parameters(), lr=1e-3), 4, "finetune")
