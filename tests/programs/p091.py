"""Two moons, with weights set by hand."""
import torch, torch.nn as nn
from sklearn.datasets import make_moons
X, y = make_moons(400, noise=.1, random_state=0)
X = torch.tensor(X).float(); y = torch.tensor(y).float().view(-1, 1)
def init_weights(m):
    if type(m) == nn.Linear:
        nn.init.constant_(m.weight, 0.0)
        m.bias.data.fill_(0.0)
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
net.apply(init_weights)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.BCELoss()
for e in range(300):
    out = net(X); l = loss_fn(out, y)
    opt.zero_grad(); l.backward(); opt.step()
    if e % 25 == 0: print(e, float(l))
