"""Half precision whose scale sinks to its floor, and a guard as frameworks have it."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16)
y = x @ torch.randn(16, 1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16)
for step in range(400):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(x * 300)
        loss = ((out * 3000) ** 2).mean() if step > 40 else ((out - y) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < 1e-4:
        raise FloatingPointError("Minimum loss scale reached (0.0001). Your loss is probably exploding. Try lowering the learning rate.")
    print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale()}")
