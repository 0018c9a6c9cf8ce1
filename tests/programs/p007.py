"""Token tagging with ignored positions."""
import torch
from torch import nn

torch.manual_seed(2)
VOCAB, TAGS = 40, 5
emb = nn.Embedding(VOCAB, 24)
head = nn.Linear(24, TAGS)
params = list(emb.parameters()) + list(head.parameters())
adam = torch.optim.Adam(params, lr=3e-3)
loss_fn = nn.CrossEntropyLoss(ignore_index=-100)
for step in range(160):
    tokens = torch.randint(0, VOCAB, (4, 10))
    tags = tokens % TAGS
    keep = torch.rand(4, 10) < 0.15
    if step >= 70 and step % 9 == 0:
        keep[:] = False
    tags[~keep] = -100
    logits = head(emb(tokens))
    loss = loss_fn(logits.view(-1, TAGS), tags.view(-1))
    adam.zero_grad()
    loss.backward()
    adam.step()
    if step % 20 == 0:
        print("step %d loss %.4f" % (step, loss.item()))
