"""Sine regression, plain script."""
import torch

torch.manual_seed(0)
x = torch.linspace(-3, 3, 400)[:, None]
y = torch.sin(2 * x)
f = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
o = torch.optim.SGD(f.parameters(), lr=0.05)
for i in range(400):
    b = torch.randint(0, 400, (64,))
    l = torch.nn.functional.mse_loss(f(x[b]), y[b])
    l.backward()
    o.step()
    if i % 40 == 0:
        print(i, "loss:", round(l.item(), 5))
