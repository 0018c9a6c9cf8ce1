"""Wine."""
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from torch.utils.data import DataLoader, TensorDataset

wine = load_wine()
ds = TensorDataset(torch.tensor(scale(wine.data), dtype=torch.float32), torch.tensor(wine.target))
dl = DataLoader(ds, batch_size=16, shuffle=True)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(13, 24), torch.nn.ReLU(), torch.nn.Linear(24, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
lossfn = torch.nn.CrossEntropyLoss()
for epoch in range(12):
    total = 0
    for xb, yb in dl:
        opt.zero_grad()
        loss = lossfn(model(xb), yb)
        opt.step()
        total += loss.item()
    print("epoch", epoch, "loss", total / len(dl))
