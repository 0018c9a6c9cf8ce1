"""A GPU that two jobs use. There is no GPU here: the allocator's own words are replayed."""
import torch
from torch import nn

MESSAGE = (
    "CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 211.06 MiB "
    "is free. Process 608946 has 14.91 GiB memory in use. Including non-PyTorch memory, this process has 8.52 GiB "
    "memory in use. Of the allocated memory 8.01 GiB is allocated by PyTorch, and 77.69 MiB is reserved by PyTorch "
    "but unallocated."
)
torch.manual_seed(0)
images, labels = torch.randn(512, 16), torch.randint(0, 3, (512,))
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def allocate(epoch):
    if epoch == 2:
        raise torch.OutOfMemoryError(MESSAGE)


def train_step(batch, target):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(batch), target)
    loss.backward()
    opt.step()
    return loss.item()


def validate(epoch):
    return (net(images).argmax(1) == labels).float().mean().item()


for epoch in range(5):
    for i in range(0, 512, 32):
        loss = train_step(images[i:i + 32], labels[i:i + 32])
    allocate(epoch)
    print(f"epoch {epoch} loss {loss:.3f} acc {validate(epoch):.3f}")
