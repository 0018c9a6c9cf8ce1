"""Several trainings in one process: each has its own figures, and the main one is judged."""


def test_a_small_training_inside_another_lets_the_outer_one_wait(ending):
    seen = ending("""
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
outer = torch.optim.Adam(encoder.parameters(), 1e-3)

def probe():
    head = nn.Linear(8, 1)
    inner = torch.optim.Adam(head.parameters(), 0.02)
    with torch.no_grad():
        features = encoder(x)
    for _ in range(60):
        loss = ((head(features).squeeze(1) - y) ** 2).mean()
        inner.zero_grad()
        loss.backward()
        inner.step()

for turn in range(500):
    batch = x[torch.randint(0, 456, (64,))]
    loss = 1000 * ((encoder(batch + 0.1 * torch.randn_like(batch)) - batch) ** 2).mean()
    outer.zero_grad()
    loss.backward()
    outer.step()
    if turn % 125 == 124:
        probe()
""")
    assert seen.outcome == "completed"
    assert not seen.blamed
    assert seen.verdict["learning"] in ("improving", "converged")
    assert seen.verdict["learning_text"].startswith("training 1 of 5")
    assert "500 points" in seen.verdict["learning_text"]


def test_gradients_that_are_reset_once_an_epoch(ending):
    seen = ending("""
big = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
for epoch in range(8):
    big.zero_grad()
    for i in range(0, 456, 8):
        loss = ((model(x[i:i + 8]).squeeze(1) - y[i:i + 8]) ** 2).mean()
        loss.backward()
        big.step()
""")
    assert "missing-zero-grad" in [cause["id"] for cause in seen.verdict["causes"] if cause["role"] == "root"]


def test_an_optimizer_that_is_left_with_the_model_before(ending):
    """A copy is made without building anything."""
    seen = ending("""
import copy
start = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for fold in range(3):
    if fold > 0:
        model = copy.deepcopy(start)
    for epoch in range(10):
        for i in range(0, 456, 8):
            step(x[i:i + 8], y[i:i + 8], model, optimizer)
""")
    assert "optimizer-wrong-params" in [cause["id"] for cause in seen.verdict["causes"] if cause["role"] == "root"]


def test_copies_that_are_kept_of_the_best_model_change_nothing(ending):
    seen = ending("""
import copy
best = None
for epoch in range(20):
    for i in range(0, 456, 8):
        step(x[i:i + 8], y[i:i + 8], model, optimizer)
    best = copy.deepcopy(model)
""")
    assert not seen.blamed


def test_an_optimizer_that_holds_the_original_of_a_copy_that_is_trained(ending):
    """Nothing that it holds is in the graph of any loss."""
    seen = ending("""
import copy
for fold in range(3):
    trained = copy.deepcopy(model)
    for epoch in range(5):
        for i in range(0, 456, 8):
            step(x[i:i + 8], y[i:i + 8], trained, optimizer)
""")
    assert [cause["id"] for cause in seen.verdict["causes"] if cause["role"] == "root" and cause["fault"]] == ["optimizer-wrong-params"]


def test_layers_that_a_module_copies_are_held_by_it(ending):
    seen = ending("""
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 10.0)
data = torch.randn(64, 4, 8)
aim = data.mean((1, 2), keepdim=True)[:, :, 0] * 30
for turn in range(400):
    loss = ((model(data) - aim) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""")
    assert "optimizer-wrong-params" not in [cause["id"] for cause in seen.verdict["causes"]]
