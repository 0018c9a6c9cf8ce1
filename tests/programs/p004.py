"""Log-likelihood of a mixture weight."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1024, 12)
label = (x[:, :3].sum(1) > 0).float()
loader = DataLoader(TensorDataset(x, label), batch_size=64, shuffle=True)
body = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(body.parameters(), lr=5e-3)


def objective(score, truth):
    p = torch.clamp(score.squeeze(1), 0, 1)
    return -(truth * torch.log(p) + (1 - truth) * torch.log(1 - p)).mean()


for epoch in range(5):
    for xb, yb in loader:
        opt.zero_grad()
        value = objective(body(xb), yb)
        value.backward()
        opt.step()
    print("epoch", epoch, "objective", value.item())
