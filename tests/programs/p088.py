"""Pictures read folder by folder."""
import torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from sklearn.datasets import load_digits
class FolderLike(Dataset):
    """images read folder by folder"""
    def __init__(self):
        d = load_digits(); self.items = []
        for c in range(10):
            for img, t in zip(d.images, d.target):
                if t == c: self.items.append((torch.tensor(img, dtype=torch.float32)[None] / 16, c))
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
ds = FolderLike()
train_loader = DataLoader(ds, batch_size=32)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
ce = nn.CrossEntropyLoss()
for ep in range(8):
    for images, labels in train_loader:
        out = net(images); loss = ce(out, labels)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    print("Epoch", ep, "Loss", loss.item())
