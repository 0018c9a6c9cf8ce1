"""Images and labels from two lists."""
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
images = torch.tensor(d.data / 16, dtype=torch.float32)[torch.randperm(1797)]
labels = torch.tensor(d.target)
loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    total = 0.0
    for img, lab in loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(img), lab)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
