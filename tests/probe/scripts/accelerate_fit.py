"""Trains with accelerate's prepare, accumulate and clipping, and prints a fingerprint of losses and weights."""

import hashlib

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
torch.set_num_threads(1)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
data = TensorDataset(torch.randn(96, 12), torch.randint(0, 4, (96,)))
model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4)
loader = DataLoader(data, batch_size=12, shuffle=True)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
digest = hashlib.sha256()
for epoch in range(3):
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        digest.update(loss.detach().numpy().tobytes())
for value in model.state_dict().values():
    digest.update(value.numpy().tobytes())
digest.update(torch.get_rng_state().numpy().tobytes())
print("state", digest.hexdigest())
