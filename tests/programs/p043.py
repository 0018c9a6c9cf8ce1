"""Binary task with two outputs."""
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

c = load_breast_cancer()
x = torch.tensor(scale(c.data), dtype=torch.float32)
y = torch.tensor(c.target, dtype=torch.float32)[:, None]
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(30, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Softmax(dim=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
bce = torch.nn.BCELoss()
for epoch in range(15):
    for i in torch.randperm(569).split(32):
        opt.zero_grad()
        loss = bce(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(epoch, "loss", loss.item())
