"""A loss out of the share of wrong answers."""
import torch
import torch.nn as nn
from torch.autograd import Variable
from sklearn.datasets import load_iris
iris = load_iris()
x = torch.Tensor(iris.data); y = torch.LongTensor(iris.target)
x = (x - x.mean(0)) / x.std(0)
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(4, 16); self.fc2 = nn.Linear(16, 3)
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
def accuracy_loss(out, target):
    _, pred = torch.max(out, 1)
    return (pred != target).float().mean()
for epoch in range(100):
    opt.zero_grad()
    out = net(x)
    loss = accuracy_loss(out, y)
    loss = Variable(loss.data, requires_grad=True)
    loss.backward()
    opt.step()
    if epoch % 10 == 0: print(epoch, loss.item())
