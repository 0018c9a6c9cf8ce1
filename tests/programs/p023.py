"""Convolutional net on synthetic images."""
import torch
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.classifier = nn.Linear(64, 4)

    def forward(self, img):
        return self.classifier(self.features(img).flatten(1))


def make(n):
    labels = torch.randint(0, 4, (n,))
    images = torch.randn(n, 1, 12, 12) * 0.4
    for i, c in enumerate(labels):
        images[i, 0, (c // 2) * 6:(c // 2) * 6 + 6, (c % 2) * 6:(c % 2) * 6 + 6] += 1
    return images, labels


torch.manual_seed(1)
net = ConvNet()
for p in net.parameters():
    p.requires_grad = False
net.classifier.bias.requires_grad = True
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
images, labels = make(800)
for epoch in range(6):
    for s in range(0, 800, 40):
        loss = nn.functional.cross_entropy(net(images[s:s + 40]), labels[s:s + 40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch={epoch} loss={loss.item():.4f}")
