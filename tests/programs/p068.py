"""Resuming from a checkpoint."""
import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(10, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
path = os.path.join(tempfile.mkdtemp(), "last.pt")
torch.save({"epoch": 5, "model": net.state_dict(), "opt": opt.state_dict()}, path)

state = torch.load(path)
net.load_state_dict(state["model"])
opt.load_state_dict(state["opt"])
start_epoch, epochs = state["epoch"], 5
print(f"resumed from epoch {start_epoch}")
for epoch in range(start_epoch, epochs):
    x = torch.randn(64, 10)
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    loss.backward()
    opt.step()
    print("epoch", epoch, loss.item())
print("done")
