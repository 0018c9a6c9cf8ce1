"""Convolutional net with loaders, evaluation and best checkpoint."""
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def synthetic(n):
    labels = torch.randint(0, 4, (n,))
    images = torch.randn(n, 1, 12, 12) * 0.5
    for i, c in enumerate(labels):
        images[i, 0, (c // 2) * 6:(c // 2) * 6 + 6, (c % 2) * 6:(c % 2) * 6 + 6] += 1
    return TensorDataset(images, labels)


def main():
    torch.manual_seed(0)
    train_set, val_set = random_split(synthetic(1200), [960, 240])
    train_loader = DataLoader(train_set, batch_size=48, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=120)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Dropout(0.2), nn.Linear(288, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best = 0
    for epoch in range(4):
        model.train()
        for images, labels in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = sum((model(a).argmax(1) == b).sum().item() for a, b in val_loader) / len(val_set)
        print(f"Epoch {epoch + 1}/4 train_loss {loss.item():.4f} val_acc {acc:.4f}")
        if acc > best:
            best = acc
            torch.save(model.state_dict(), tempfile.gettempdir() + "/tiny_cnn_best.pt")


if __name__ == "__main__":
    main()
