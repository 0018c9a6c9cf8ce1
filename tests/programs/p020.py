"""Digits, trainer class."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for images, labels in loader:
                self.opt.zero_grad()
                loss = self.criterion(self.model(images), labels)
                loss.backward()
                total += loss.item()
            print(f"Epoch {epoch + 1}/{epochs} - loss: {total / len(loader):.4f}")


torch.manual_seed(0)
digits = load_digits()
dataset = TensorDataset(torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target))
Trainer(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)), 1e-3).fit(
    DataLoader(dataset, batch_size=64, shuffle=True), 5)
