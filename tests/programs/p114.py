"""Second-order optimiser with a closure."""
import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 200)[:, None]
y = torch.sin(3 * x)
net = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=10)
for it in range(25):
    def closure():
        opt.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        return loss
    value = opt.step(closure)
    print("iteration", it, "loss", value.item())
