"""Attention over padded sentences."""
import math

import torch
from torch import nn


class TinyAttention(nn.Module):
    def __init__(self, vocab=50, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens):
        h = self.embed(tokens)
        scores = self.q(h) @ self.k(h).transpose(1, 2) / math.sqrt(h.shape[-1])
        mask = (tokens == 0).unsqueeze(1)
        scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return self.out((weights @ self.v(h)).mean(1))


torch.manual_seed(5)
model = TinyAttention()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
lossf = nn.CrossEntropyLoss()
for step in range(200):
    lengths = torch.randint(1, 12, (32,))
    if step == 90:
        lengths[3] = 0
    tokens = torch.randint(1, 50, (32, 12))
    tokens[torch.arange(12)[None, :] >= lengths[:, None]] = 0
    target = (tokens.sum(1) > 150).long()
    loss = lossf(model(tokens), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
