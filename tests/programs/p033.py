"""Iris with probabilities."""
import torch
from sklearn.datasets import load_iris
from torch import nn

iris = load_iris()
x = torch.tensor(iris.data, dtype=torch.float32)
x = (x - x.mean(0)) / x.std(0)
y = torch.tensor(iris.target)
torch.manual_seed(0)


class IrisNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, t):
        return self.softmax(self.fc2(torch.relu(self.fc1(t))))


net = IrisNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(30):
    for i in torch.randperm(150).split(15):
        optimizer.zero_grad()
        loss = criterion(net(x[i]), y[i])
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", loss.item())
