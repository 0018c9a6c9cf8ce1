"""Character model on a short text."""
import torch
from torch import nn

text = ("the quick brown fox jumps over the lazy dog and then the dog sleeps while the fox runs over the hill " * 20)
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])


class CharRNN(nn.Module):
    def __init__(self, n, h=48):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(n, 16), nn.GRU(16, h, batch_first=True), nn.Linear(h, n)

    def forward(self, t):
        return self.out(self.rnn(self.emb(t))[0])


torch.manual_seed(0)
model = CharRNN(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(120):
    s = torch.randint(0, len(ids) - 33, (16,))
    seq = torch.stack([ids[k:k + 33] for k in s])
    logits = model(seq[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, len(chars)), seq[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3f}")
