"""A loop with hooks and a writer."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)


class Engine:
    def __init__(self, hooks):
        self.hooks = hooks
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def run(self, epochs):
        for epoch in range(epochs):
            for i in torch.randperm(1797).split(64):
                self.opt.zero_grad()
                loss = nn.functional.cross_entropy(self.net(x[i]), y[i])
                loss.backward()
                self.opt.step()
            for hook in self.hooks:
                hook.on_epoch_end(epoch, {"loss": loss.item()})


class History:
    def on_epoch_end(self, epoch, logs):
        print(f"epoch {epoch} loss {logs['loss']:.4f}")
        if epoch == 2:
            print("val", logs["val_loss"])


Engine([History()]).run(6)
