"""Half precision everywhere."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 32) * 20
y = (x @ torch.randn(32, 1)).mul(30)
net = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).half()
opt = torch.optim.SGD(net.parameters(), lr=1e-5)
for step in range(80):
    pick = torch.randint(0, 512, (64,))
    out = net(x[pick].half())
    loss = ((out - y[pick].half()) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 8 == 0:
        print("it", step, "loss", loss.item())
