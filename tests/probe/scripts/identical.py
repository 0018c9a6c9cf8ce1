"""Trains small models of many shapes and prints fingerprints of every loss, weight and random state.

Usage: identical.py NAME...   The output must not depend on who is watching.
"""

import hashlib
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def fingerprint(name, losses, *modules):
    digest = hashlib.sha256()
    for loss in losses:
        digest.update(torch.as_tensor(loss, dtype=torch.float64).numpy().tobytes())
    for module in modules:
        for key, value in module.state_dict().items():
            digest.update(key.encode())
            digest.update(value.detach().double().numpy().tobytes())
    digest.update(torch.get_rng_state().numpy().tobytes())
    digest.update(repr(random.getstate()).encode())
    print(name, len(losses), f"{losses[-1]:.9g}", digest.hexdigest(), flush=True)


def fit(model, optimizer, batches, loss_of, steps_per_update=1, closure=False, scaler=None, dtype=None):
    losses = []
    for index, (x, y) in enumerate(batches):

        def forward(x=x, y=y):
            with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
                return loss_of(model(x), y) / steps_per_update

        if closure:

            def again():
                optimizer.zero_grad()
                loss = forward()
                loss.backward()
                return loss

            losses.append(float(optimizer.step(again)))
            continue
        loss = forward()
        losses.append(float(loss))
        (scaler.scale(loss) if scaler else loss).backward()
        if (index + 1) % steps_per_update == 0:
            if scaler:
                scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            (scaler.step(optimizer), scaler.update()) if scaler else optimizer.step()
            optimizer.zero_grad()
    return losses


def classes(count, *shape, number=4):
    return [(torch.randn(16, *shape), torch.randint(0, number, (16,))) for _ in range(count)]


def mlp():
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    losses = []
    for _ in range(3):
        losses += fit(model, optimizer, classes(12, 12), F.cross_entropy)
        schedule.step()
    return losses, model


def cnn():
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, 4))
    data = TensorDataset(torch.randn(160, 1, 16, 16), torch.randint(0, 4, (160,)))
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for _ in range(2):
        losses += fit(model, optimizer, DataLoader(data, batch_size=16, shuffle=True), nn.CrossEntropyLoss())
    return losses, model


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens))).transpose(1, 2)


def transformer():
    model = Tiny()
    batches = [(torch.randint(0, 50, (8, 12)), torch.randint(0, 50, (8, 12))) for _ in range(25)]
    return fit(model, torch.optim.AdamW(model.parameters(), lr=1e-3), batches, nn.CrossEntropyLoss()), model


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(6, 16, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def rnn():
    model = Recurrent()
    batches = [(torch.randn(8, 10, 6), torch.randn(8, 1)) for _ in range(25)]
    return fit(model, torch.optim.RMSprop(model.parameters(), lr=1e-3), batches, nn.MSELoss()), model


def lbfgs():
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    batches = [(torch.randn(32, 5), torch.randn(32, 1))] * 6
    return fit(model, torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5), batches, nn.MSELoss(), closure=True), model


def accumulation():
    model = nn.Sequential(nn.Linear(12, 16), nn.GELU(), nn.Linear(16, 4))
    return fit(model, torch.optim.SGD(model.parameters(), lr=0.1), classes(24, 12), F.cross_entropy, steps_per_update=4), model


def bfloat16():
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
    return fit(model, torch.optim.AdamW(model.parameters()), classes(20, 12), F.cross_entropy, dtype=torch.bfloat16), model


def scaler():
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
    scale = torch.amp.GradScaler("cpu", init_scale=2.0**120)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return fit(model, optimizer, classes(20, 12), F.cross_entropy, scaler=scale), model


def nan():
    """The probe's alarm paths run too."""
    model = nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1))
    batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(12)]
    batches[6][0][2, 1] = float("nan")
    return fit(model, torch.optim.SGD(model.parameters(), lr=0.1), batches, nn.MSELoss()), model


def gan():
    maker, judge = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    making, judging = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    losses = []
    for _ in range(20):
        judging.zero_grad()
        real, fake = judge(torch.randn(8, 6)), judge(maker(torch.randn(8, 4)).detach())
        loss = F.binary_cross_entropy_with_logits(real, torch.ones(8, 1))
        loss.backward()
        other = F.binary_cross_entropy_with_logits(fake, torch.zeros(8, 1))
        other.backward()
        judging.step()
        making.zero_grad()
        last = F.binary_cross_entropy_with_logits(judge(maker(torch.randn(8, 4))), torch.ones(8, 1))
        last.backward()
        making.step()
        losses += [loss.item(), other.item(), last.item()]
    return losses, nn.ModuleList([maker, judge])


def compiled():
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
    fast = torch.compile(model)

    @torch.compile
    def loss_of(output, y):
        return F.cross_entropy(output, y) + F.mse_loss(output, torch.zeros_like(output))

    losses = fit(fast, torch.optim.Adam(model.parameters(), lr=1e-3), classes(20, 12), loss_of)
    import torch._dynamo.utils as utils

    counters = {key: dict(utils.counters[key]) for key in ("stats", "graph_break", "recompiles", "frames")}
    print({key: value for key, value in counters.items()}, flush=True)
    return losses, model


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        return torch.randn(6) + index, torch.randint(0, 4, ()).item()


def workers(context):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(2):
        loader = DataLoader(Noisy(), batch_size=12, shuffle=True, num_workers=2, multiprocessing_context=context)
        losses += fit(model, optimizer, loader, nn.CrossEntropyLoss())
    return losses, model


def fork():
    return workers("fork")


def spawn():
    return workers("spawn")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for chosen in sys.argv[1:]:
        torch.manual_seed(7)
        random.seed(7)
        losses_, model_ = globals()[chosen]()
        fingerprint(chosen, losses_, model_)
