"""Columns of a table over many batches: what stands for a gap, codes, tails and constants, also after standardising."""

TABLE = """
import torch
torch.manual_seed(0)
rows = torch.randn(1000, 6)
rows[:, 1] = 3.0
rows[:, 2] = torch.randint(0, 40, (1000,)).float()
rows[::25, 3] = -9999.0
rows[7, 4] = 1e6
rows[:, 5] = rows[:, 5].clamp(-1, 1)
if STANDARDISED:
    spread = rows.std(0)
    rows = (rows - rows.mean(0)) / torch.where(spread > 0, spread, torch.ones(6))
data = torch.utils.data.TensorDataset(rows, torch.randn(1000, 1))
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)
for inputs, targets in torch.utils.data.DataLoader(data, batch_size=20, shuffle=True):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(inputs), targets).backward()
    optimizer.step()
"""


def test_gaps_codes_tails_and_constants_are_seen(run, script):
    for standardised in ("False", "True"):
        got = run(script(TABLE.replace("STANDARDISED", standardised)))
        assert (got.code, got.err) == (0, "")
        assert got.observations("probe-failure") == []
        seen = {item["place"]: item for item in got.observations("columns")}
        inputs = seen["0"]
        assert inputs["rows"] >= 256, "gathered over many batches"
        assert (inputs["columns"], inputs["constant"]) == (6, 1)
        assert (inputs["spiked"], inputs["spike_column"]) == (1, 3), "a value that was clipped is none"
        assert 0.01 < inputs["spike_share"] < 0.1
        assert inputs["spike_distance"] > 100
        assert (inputs["coded"], inputs["code_column"]) == (1, 2)
        assert seen["1"]["spiked"] == seen["1"]["tailed"] == seen["1"]["coded"] == 0


NORMED = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    optimizer.zero_grad()
    net(torch.randn(2, 4)).square().mean().backward()
    optimizer.step()
"""


def test_the_batch_that_reaches_a_batch_norm_is_seen(run, script):
    got = run(script(NORMED))
    assert got.observations("probe-failure") == []
    seen = got.one("norm-input")
    assert (seen["module"], seen["samples"], seen["values"]) == ("1", 2, 2)


def test_layers_that_compute_in_half_precision_are_seen(run, script):
    got = run(script(NORMED.replace("net(torch.randn(2, 4))", "torch.autocast('cpu', dtype=torch.float16)(net)(torch.randn(2, 4)).float()")))
    assert got.observations("probe-failure") == []
    assert got.one("half-output")["module"] == "0"


SHOPS = """
import torch
torch.manual_seed(0)
shop = torch.randint(0, 30, (2000,))
month = torch.randint(0, 30, (2000,))
rows = torch.stack([torch.randn(2000), shop / 10.0, month / 10.0], dim=1)
by_shop, by_month = torch.randn(30)[shop], (month - 15).float().square() / 100
targets = TARGETS + 0.1 * torch.randn(2000)
data = torch.utils.data.TensorDataset(rows[:, COLUMNS], targets)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)
for inputs, wanted in torch.utils.data.DataLoader(data, batch_size=50, shuffle=True):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(inputs)[:, 0], wanted).backward()
    optimizer.step()
"""


def test_codes_that_tell_the_target_by_kind_are_told_from_a_bent_size(run, script):
    codes = {}
    for name, columns in (("shop", "[0, 1]"), ("month", "[0, 2]")):
        got = run(script(SHOPS.replace("COLUMNS", columns).replace("TARGETS", f"by_{name}")))
        assert got.observations("probe-failure") == []
        codes[name] = [item for item in got.observations("columns") if item["place"] == "0"][-1]
        assert codes[name]["code_column"] == 1
        assert codes[name]["told_by_kind"] - codes[name]["told_by_line"] > 0.1
    assert codes["shop"]["code_order"] > 1 > 0.5 > codes["month"]["code_order"]


def test_columns_of_a_model_that_has_no_loader_are_seen(run, script):
    got = run(script(TABLE.replace("STANDARDISED", "True").replace("torch.utils.data.DataLoader(data, batch_size=20, shuffle=True)", "[data[:]] * 12")))
    assert got.observations("probe-failure") == []
    assert {item["spike_column"] for item in got.observations("columns") if item["place"] == "model input"} == {3}, "told again as rows come"


def test_codes_are_known_where_batches_are_made_by_hand(run, script):
    """Without a loader the targets are those that the loss compares the outputs with, also of a loss written by hand."""
    loop = "for inputs, wanted in torch.utils.data.DataLoader(data, batch_size=50, shuffle=True):"
    by_hand = "for wanted_rows in 4 * torch.arange(2000).split(50):\n    inputs, wanted = data[wanted_rows]"
    shops = SHOPS.replace("COLUMNS", "[0, 1]").replace("TARGETS", "by_shop").replace(loop, by_hand)
    for loss in ("torch.nn.functional.mse_loss(net(inputs)[:, 0], wanted)", "(net(inputs)[:, 0] - wanted).square().mean()"):
        got = run(script(shops.replace("torch.nn.functional.mse_loss(net(inputs)[:, 0], wanted)", loss)))
        assert got.observations("probe-failure") == []
        codes = [item for item in got.observations("columns") if item["place"] == "model input"][-1]
        assert codes["code_column"] == 1
        assert codes["told_by_kind"] - codes["told_by_line"] > 0.1 and codes["code_order"] > 1


def test_more_codes_than_rows_for_each_are_known_by_those_that_come_again(run, script):
    many = SHOPS.replace("30, (2000,)", "200, (2000,)").replace("torch.randn(30)", "torch.randn(200)").replace("COLUMNS", "[0, 1]")
    told = {}
    for name, targets in (("shop", "by_shop"), ("nothing", "torch.randn(2000)")):
        got = run(script(many.replace("TARGETS", targets)))
        told[name] = next(item for item in got.observations("columns") if item["place"] == "0")
    assert told["shop"]["rows"] < 400 and told["shop"]["told_by_kind"] > 0.3
    assert told["nothing"].get("told_by_kind", 0) < 0.1
