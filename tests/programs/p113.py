"""Fixed features, trained head."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 256), nn.ReLU())
        self.head = nn.Linear(256, 10)
        for p in self.backbone.parameters():
            p.requires_grad_(False)

    def forward(self, images):
        with torch.no_grad():
            feats = self.backbone(images)
        return self.head(feats)


net = Classifier()
opt = torch.optim.Adam(net.head.parameters(), lr=3e-3)
for epoch in range(8):
    for i in torch.randperm(1797).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
