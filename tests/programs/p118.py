"""Denoising autoencoder, epochs by while."""
import torch
from torch import nn

torch.manual_seed(0)
codes = torch.randn(600, 3)
x = torch.tanh(codes @ torch.randn(3, 24))
ae = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 3), nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 24))
opt = torch.optim.RMSprop(ae.parameters(), lr=1e-3)
epoch = 0
while epoch < 15:
    for i in torch.randperm(600).split(40):
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(ae(x[i] + 0.05 * torch.randn(len(i), 24)), x[i])
        loss.backward()
        opt.step()
    epoch += 1
    print("epoch", epoch, "loss", float(loss))
