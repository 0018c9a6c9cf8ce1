"""Likelihood of a density: values below zero are normal."""
import torch

torch.manual_seed(0)
data = torch.randn(2000) * 0.05 + 3.0
mean = torch.nn.Parameter(torch.zeros(1))
log_std = torch.nn.Parameter(torch.zeros(1))
opt = torch.optim.Adam([mean, log_std], lr=0.05)
for step in range(400):
    i = torch.randint(0, 2000, (100,))
    nll = -torch.distributions.Normal(mean, log_std.exp()).log_prob(data[i]).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if step % 40 == 0:
        print(f"step {step} nll {nll.item():.4f}")
