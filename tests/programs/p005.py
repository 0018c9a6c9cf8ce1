"""Tabular data with a loader."""
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

data = load_breast_cancer()
table = StandardScaler().fit_transform(data.data).astype(np.float32)
table[311, 7] = np.nan
train = DataLoader(TensorDataset(torch.from_numpy(table), torch.from_numpy(data.target)), batch_size=32, shuffle=False)
torch.manual_seed(0)
clf = torch.nn.Sequential(torch.nn.Linear(30, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
optimizer = torch.optim.Adam(clf.parameters(), lr=1e-3)
criterion = torch.nn.CrossEntropyLoss()


def train_one_epoch():
    running = 0.0
    for features, labels in train:
        optimizer.zero_grad()
        loss = criterion(clf(features), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(train)


for ep in range(4):
    print(f"[{ep}] train loss {train_one_epoch():.4f}")
