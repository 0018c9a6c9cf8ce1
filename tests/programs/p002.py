"""House prices in dollars, straight from the table."""
import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(3)
area = rng.uniform(0.5, 3.0, 800)
rooms = rng.integers(1, 7, 800) / 3.0
price = 180_000 * area + 40_000 * rooms + rng.normal(0, 9_000, 800)
features = torch.tensor(np.stack([area, rooms], 1), dtype=torch.float32)
prices = torch.tensor(price, dtype=torch.float32).unsqueeze(1)

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(),
                            torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(120):
    batch = torch.randint(0, 800, (32,))
    optimizer.zero_grad()
    mse = F.mse_loss(model(features[batch]), prices[batch])
    mse.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "mse", mse.item())
