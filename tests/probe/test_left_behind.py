"""What is left behind without a word: weights that were not loaded, an optimizer of another model, a misspelt attribute."""

START = """
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))

def made():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

def train(model, optimizer, steps=6):
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_checkpoint_of_other_names(run, script):
    got = run(script(START + """
model = made()
state = {"encoder." + name: value for name, value in made().state_dict().items()}
model.load_state_dict(state, strict=False)
model.load_state_dict(made().state_dict())
train(model, torch.optim.SGD(model.parameters(), 0.1))
"""))
    (loaded,) = got.observations("weights-loaded")
    assert (loaded["given"], loaded["taken"], loaded["missing"]) == (4, 0, 4)
    assert loaded["unexpected_names"].startswith("encoder.0.weight")


def test_an_optimizer_that_stayed_with_the_model_before(run, script):
    got = run(script(START + """
model = made()
optimizer = torch.optim.Adam(model.parameters())
train(model, optimizer, 40)
keep = model
train(made(), optimizer, 40)
"""))
    told = got.observations("gradients-present")
    assert [item["stale"] for item in told][:2] == [0, 0]
    assert told[-1]["stale"] == told[-1]["tensors"] == 4


def test_gradients_of_the_same_model_are_never_stale(run, script):
    got = run(script(START + """
model = made()
optimizer = torch.optim.Adam(model.parameters())
for fold in range(3):
    train(model, optimizer, 20)
    made()
"""))
    assert got.observations("gradients-present")
    assert all(item["stale"] == 0 for item in got.observations("gradients-present"))


def test_an_attribute_that_nobody_reads(run, script):
    got = run(script(START + """
model = made()
for parameter in model[0].parameters():
    parameter.requires_grad = False
for parameter in model[0].parameters():
    parameter.require_grad = True
train(model, torch.optim.SGD([item for item in model.parameters() if item.requires_grad], 0.1))
"""))
    assert got.observations("optimizer")[0]["misspelt"] == "require_grad"


def test_the_first_value_that_is_not_finite_is_that_of_the_operation_that_ran_first(run, script):
    """Goal: a residual connection around the attention is a short cut to the loss, and misleads nobody."""
    got = run(script(START + """
norm, value, out = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 3)
optimizer = torch.optim.SGD([*norm.parameters(), *value.parameters(), *out.parameters()], 0.1)
scores = torch.zeros(64, 64).fill_diagonal_(float("-inf"))
scores[5] = float("-inf")
for _ in range(3):
    hidden = value(x)
    hidden = hidden + (hidden @ hidden.T + scores).softmax(-1) @ hidden
    loss = nn.functional.cross_entropy(out(norm(hidden)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""))
    first = got.observations("nonfinite")[0]
    assert first["operation"] == "SoftmaxBackward0"


def test_a_range_that_came_to_its_end_made_all_its_turns(run, script):
    """Goal: the next loop of the module has taken the variable by the time anybody looks."""
    got = run(script(START + """
model = made()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(6):
    for part in torch.randperm(64).split(8):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
for epoch in range(40):
    for part in torch.randperm(64).split(8):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""))
    ended = [item for item in got.observations("loop-exit") if item["how"] == "end" and item.get("planned") == 6]
    assert all(item["turn"] == 6 for item in ended)


def test_what_is_collected_within_a_step_keeps_no_graph_of_earlier_ones(run, script):
    """Goal: a list of losses that grows with the steps is told; the moves of an episode, collected anew for each step, are not."""
    loop = """
import time
model = made()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
kept = []
for episode in range(300):
    moves = []
    for turn in range(25):
        moves.append(model(x[turn]).log_softmax(0)[y[turn]])
    loss = -torch.stack(moves).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append(%s)
    time.sleep(0.005)
"""
    assert [item["variable"] for item in run(script(START + loop % "loss")).observations("retained-graph")][:1] == ["kept"]
    assert run(script(START + loop % "loss.item()")).observations("retained-graph") == []


EPISODES = """
import time
model = made()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for episode in range(200):
    kept = []
    for move in range(18 + episode):
        kept.append(model(x[move % 64]).mean())
    loss = torch.stack(kept).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.01)
"""


def test_a_list_that_is_made_anew_for_every_step_keeps_nothing(run, script):
    """Ever longer episodes: the new list often lies where the old one lay."""
    got = run(script(START + EPISODES))
    assert (got.code, got.observations("retained-graph")) == (0, [])
