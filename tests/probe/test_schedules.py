"""How often a schedule must be moved until its rate is up; nothing where it begins high or hides it."""

SCHEDULES = """
import functools
import torch
net = torch.nn.Linear(4, 1)
rates = torch.optim.lr_scheduler

def warm(step, *, num_warmup_steps, num_training_steps):
    return min(1.0, step / num_warmup_steps)

def optimizer():
    return torch.optim.SGD(net.parameters(), lr=0.1)

rates.OneCycleLR(optimizer(), max_lr=0.1, total_steps=100, pct_start=0.3)
rates.LinearLR(optimizer(), start_factor=0.1, total_iters=40)
rates.LinearLR(optimizer(), start_factor=1.0, end_factor=0.1, total_iters=40)
rates.LambdaLR(optimizer(), functools.partial(warm, num_warmup_steps=25, num_training_steps=200))
rates.LambdaLR(optimizer(), lambda step: 1.0)
rates.CosineAnnealingLR(optimizer(), T_max=10)
last = optimizer()
net(torch.randn(2, 4)).sum().backward()
last.step()
"""


def test_the_length_of_a_warm_up_is_told(run, script):
    got = run(script(SCHEDULES))
    assert got.observations("probe-failure") == []
    assert [(item["name"], item.get("warmup_moves")) for item in got.observations("scheduler")] == [
        ("OneCycleLR", 29), ("LinearLR", 40), ("LinearLR", None), ("LambdaLR", 25), ("LambdaLR", None), ("CosineAnnealingLR", None)]
