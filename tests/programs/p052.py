"""Wine as it comes."""
import torch
from sklearn.datasets import load_wine
from torch.utils.data import DataLoader, TensorDataset

w = load_wine()
loader = DataLoader(TensorDataset(torch.tensor(w.data, dtype=torch.float32), torch.tensor(w.target)), batch_size=16, shuffle=True)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(13, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(20):
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    print(f"epoch {epoch} loss {s / len(loader):.4f}")
