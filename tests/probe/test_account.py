"""What the account of the plan is made of: passes over the data, exceptions that cut them short, trainings one after another."""

BASE = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1)

def made():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

def step(model, optimizer, bx, by):
    loss = ((model(bx).squeeze(1) - by) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

model = made()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
"""


def test_passes_that_a_break_cuts_short_are_counted(run, script):
    got = run(script(BASE + """
loader = DataLoader(TensorDataset(x, y), 8, shuffle=True)
for epoch in range(6):
    for number, (bx, by) in enumerate(loader):
        step(model, optimizer, bx, by)
        if number == 2:
            break
"""))
    passes = got.observations("passes")[-1]
    assert (passes["begun"], passes["ended"], passes["batches"], passes["steps"]) == (6, 0, 18, 18)
    assert len(got.observations("process-exit")) == 1


def test_whole_passes_are_counted_as_such(run, script):
    got = run(script(BASE + """
loader = DataLoader(TensorDataset(x, y), 8)
held_out = DataLoader(TensorDataset(x, y), 32)
for epoch in range(3):
    for bx, by in loader:
        step(model, optimizer, bx, by)
    for bx, by in held_out:
        model(bx)
"""))
    told = {item["loader"]: item for item in got.observations("passes")}
    assert sorted((item["begun"], item["ended"], item["batches"], item["steps"]) for item in told.values()) == [(3, 3, 6, 0), (3, 3, 24, 24)]


def test_an_exception_that_ends_the_batches_is_told_apart_from_one_behind_them(run, script):
    cut = run(script(BASE + """
def batches():
    for number in range(8):
        if number == 5:
            raise ValueError("record 5")
        yield x[:8], y[:8]

for epoch in range(4):
    try:
        for bx, by in batches():
            step(model, optimizer, bx, by)
    except ValueError as error:
        print(error)
"""))
    assert [item["cut"] for item in cut.observations("exception-caught")] == [1] * 4
    beside = run(script(BASE + """
for epoch in range(4):
    for number in range(8):
        step(model, optimizer, x[:8], y[:8])
    try:
        raise ConnectionError("no upload today")
    except ConnectionError as error:
        print(error)
"""))
    assert [item["cut"] for item in beside.observations("exception-caught")] in ([0] * 4, [])


def test_models_trained_one_after_another_are_numbered(run, script):
    got = run(script(BASE + """
for rate in (0.1, 0.01, 0.001):
    model = made()
    optimizer = torch.optim.SGD(model.parameters(), rate)
    for epoch in range(4):
        for number in range(0, 64, 8):
            step(model, optimizer, x[number:number + 8], y[number:number + 8])
"""))
    assert [item["number"] for item in got.observations("training")] == [2, 3]
    assert [item["lr"] for item in got.observations("optimizer")] == [0.1, 0.01, 0.001]


def test_two_optimizers_that_take_turns_are_one_training(run, script):
    got = run(script(BASE + """
other = made()
second = torch.optim.Adam(other.parameters(), 0.01)
for epoch in range(4):
    for number in range(0, 64, 8):
        step(model, optimizer, x[number:number + 8], y[number:number + 8])
        step(other, second, x[number:number + 8], y[number:number + 8])
"""))
    assert got.observations("training") == []


def test_a_counter_that_is_raised_and_set_back_is_patience_whatever_its_name(run, script):
    got = run(script(BASE + """
turn, limit, most, misses, best = 0, 50, 1, 0, float("inf")
while turn < limit and misses < most:
    for number in range(0, 64, 8):
        loss = step(model, optimizer, x[number:number + 8], y[number:number + 8])
    value = loss.item() if turn < 3 else 99.0
    if value < best:
        best, misses = value, 0
    else:
        misses += 1
    turn += 1
"""))
    left = got.observations("loop-exit")[-1]
    assert (left["how"], left.get("meaning"), left.get("decided")) == ("end", "patience", "misses < most")


def test_an_object_that_keeps_such_a_counter_is_patience_too(run, script):
    got = run(script(BASE + """
class Guard:
    def __init__(self, rounds):
        self.rounds, self.low, self.bad = rounds, None, 0
    def tired(self, value):
        if self.low is None or value < self.low:
            self.low = value
            self.bad = 0
            return False
        self.bad += 1
        return self.bad >= self.rounds

guard = Guard(2)
for epoch in range(40):
    for number in range(0, 64, 8):
        loss = step(model, optimizer, x[number:number + 8], y[number:number + 8])
    if guard.tired(loss.item() if epoch < 3 else 99.0):
        break
"""))
    left = got.observations("loop-exit")[-1]
    assert (left["how"], left.get("meaning")) == ("break", "patience")


def test_a_goal_is_no_patience(run, script):
    got = run(script(BASE + """
goal = 1e9
for epoch in range(40):
    for number in range(0, 64, 8):
        loss = step(model, optimizer, x[number:number + 8], y[number:number + 8])
    value = loss.item()
    if epoch > 3 and value < goal:
        break
"""))
    assert got.observations("loop-exit")[-1].get("meaning") == "target"


def test_a_stream_that_runs_dry_is_measured_by_the_bound_of_its_exit(run, script):
    got = run(script(BASE + """
def stream():
    for number in range(40):
        yield x[:8], y[:8]

total, made_so_far = 500, 0
for bx, by in stream():
    step(model, optimizer, bx, by)
    made_so_far += 1
    if made_so_far >= total:
        break
print("done")
"""))
    left = got.observations("loop-exit")[-1]
    assert (left["how"], left["turn"], left["planned"]) == ("end", 40, 500)


def test_a_loop_of_a_function_that_had_nothing_left_to_do_is_named(run, script):
    got = run(script(BASE + """
def main(start, epochs):
    optimizer.load_state_dict(optimizer.state_dict())
    for epoch in range(start, epochs):
        step(model, optimizer, x[:8], y[:8])

main(10, 10)
"""))
    loop = got.one("loop-never-turned")
    assert (loop["over"], loop["function"]) == ("range(start, epochs)", "main")
    assert len(got.observations("checkpoint-loaded")) == 1


def test_what_a_spawned_process_raised_is_told_with_its_own_lines(run, script):
    path = script("""
import torch
import torch.multiprocessing as mp

def work(rank):
    raise ValueError("bad shard")

if __name__ == "__main__":
    mp.spawn(work, nprocs=1)
""")
    got = run(path)
    seen = got.observations("exception")[-1]
    assert seen["type"].endswith("ProcessRaisedException")
    assert (seen["first_type"], seen["first_message"]) == ("ValueError", "bad shard")
    assert "in work" in seen["frames"].replace("\t", " in ")


def test_a_process_that_leaves_by_the_back_door_does_not_say_that_it_came_to_its_end(run, script):
    got = run(script(BASE + """
import os
for number in range(0, 64, 8):
    step(model, optimizer, x[number:number + 8], y[number:number + 8])
os._exit(0)
"""))
    assert got.code == 0 and got.observations("process-exit") == []
