"""Does it run at all?"""
import torch

net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("step", step, "loss", loss.item())
