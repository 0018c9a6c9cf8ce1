"""A recurrent net that sums a sequence."""
import torch
from torch import nn


class Accumulator(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.cell_in = nn.Linear(1, hidden)
        self.cell_rec = nn.Linear(hidden, hidden, bias=False)
        self.readout = nn.Linear(hidden, 1)
        nn.init.normal_(self.cell_rec.weight, std=0.225)

    def forward(self, seq):
        state = torch.zeros(seq.shape[0], self.cell_rec.in_features)
        for t in range(seq.shape[1]):
            state = torch.relu(self.cell_in(seq[:, t]) + self.cell_rec(state))
        return self.readout(state)


torch.manual_seed(7)
model = Accumulator()
optim = torch.optim.SGD(model.parameters(), lr=1e-3)
for it in range(150):
    x = torch.rand(32, 40, 1)
    target = x.sum(1)
    optim.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optim.step()
    if it % 10 == 0:
        print(f"iter {it}: loss={loss.item():.4g}")
