"""Siamese network with Euclidean distance."""
import torch, torch.nn as nn
torch.manual_seed(0)
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
    def forward(self, a, b): return self.f(a), self.f(b)
class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0): super().__init__(); self.margin = margin
    def forward(self, a, b, label):
        dist = torch.sqrt(((a - b) ** 2).sum(1))
        return ((1 - label) * dist ** 2 + label * torch.clamp(self.margin - dist, min=0) ** 2).mean()
net = Siamese(); opt = torch.optim.Adam(net.parameters(), lr=1e-3); crit = ContrastiveLoss()
centers = torch.randn(10, 20) * 2
for step in range(400):
    ca = torch.randint(0, 10, (32,)); cb = torch.randint(0, 10, (32,))
    a = centers[ca] + 0.1 * torch.randn(32, 20); b = centers[cb] + 0.1 * torch.randn(32, 20)
    if step > 60:
        b[0] = a[0]; cb[0] = ca[0]      # pairs of the very same picture occur
    label = (ca != cb).float()
    e1, e2 = net(a, b)
    loss = crit(e1, e2, label)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0: print(step, loss.item())
