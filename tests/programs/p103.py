"""Very small rate, scaled loss in thousands."""
import torch

torch.manual_seed(0)
x = torch.randn(500, 10) * 30
w = torch.randn(10, 1)
y = x @ w
lin = torch.nn.Linear(10, 1)
opt = torch.optim.SGD(lin.parameters(), lr=1e-5)
for step in range(600):
    i = torch.randint(0, 500, (32,))
    loss = torch.nn.functional.mse_loss(lin(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print("step", step, "loss", loss.item())
