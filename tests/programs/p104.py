"""Big rate with tiny features."""
import torch

torch.manual_seed(0)
x = torch.randn(500, 10) * 0.1
y = x @ torch.randn(10, 1)
lin = torch.nn.Linear(10, 1)
opt = torch.optim.SGD(lin.parameters(), lr=0.45)
for step in range(300):
    i = torch.randint(0, 500, (64,))
    loss = torch.nn.functional.mse_loss(lin(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())
