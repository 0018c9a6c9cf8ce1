"""The loss of data that is not trained on is told, whether the program prints it or not."""

import pytest

PROGRAM = """
import torch
torch.manual_seed(0)
inputs, labels = torch.randn(96, 5), torch.randint(0, 3, (96,))
net = torch.nn.Linear(5, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
dataset = torch.utils.data.TensorDataset
train, held_out = dataset(inputs[:64], labels[:64]), dataset(inputs[64:], labels[64:])
seen = []
for epoch in range(4):
    net.train()
    for x, y in torch.utils.data.DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    MODE
    with torch.no_grad():
        LOOK
with open(OUT, "w") as file:
    file.write(" ".join(map(str, seen)))
"""
BY_HAND = "seen.append(torch.nn.functional.cross_entropy(net(inputs[64:]), labels[64:]).item())"
BY_LOADER = """sums = [0.0, 0]
        for x, y in torch.utils.data.DataLoader(held_out, batch_size=20):
            sums[0] += torch.nn.functional.cross_entropy(net(x), y).item() * len(y)
            sums[1] += len(y)
        for x, y in torch.utils.data.DataLoader(train, batch_size=20):
            torch.nn.functional.cross_entropy(net(x), y)
        seen.append(sums[0] / sums[1])"""


def played(run, script, tmp_path, mode, look):
    out = tmp_path / "seen"
    got = run(script(PROGRAM.replace("MODE", mode).replace("LOOK", look).replace("OUT", repr(str(out)))))
    assert (got.code, got.err, got.observations("probe-failure")) == (0, "", [])
    told = [item["value"] for item in got.of("scalar") if item["name"].startswith("held-out loss")]
    return told, [float(word) for word in out.read_text().split()]


def test_the_mean_of_each_look_is_told_and_not_that_of_what_is_trained_on(run, script, tmp_path):
    """The loader is made anew for every look: its data set tells which one it is."""
    told, seen = played(run, script, tmp_path, "net.eval()", BY_LOADER)
    assert len(seen) == 4 and told == pytest.approx(seen)


def test_calls_without_gradients_of_a_model_that_trains_are_no_look(run, script, tmp_path):
    """What dropout leaves of it is no measure of it."""
    out = tmp_path / "seen"
    program = PROGRAM.replace("torch.nn.Linear(5, 3)", "torch.nn.Sequential(torch.nn.Dropout(0.2), torch.nn.Linear(5, 3))")
    got = run(script(program.replace("MODE", "pass").replace("LOOK", BY_LOADER).replace("OUT", repr(str(out)))))
    assert [item for item in got.of("scalar") if item["name"].startswith("held-out loss")] == []


def test_a_model_to_which_the_mode_makes_no_difference_may_be_looked_at_in_any(run, script, tmp_path):
    told, seen = played(run, script, tmp_path, "pass", BY_LOADER)
    assert len(seen) == 4 and told == pytest.approx(seen)


def test_two_data_sets_that_are_looked_at_by_hand_are_two_series(run, script, tmp_path):
    look = "[torch.nn.functional.cross_entropy(net(x), y) for x, y in ((inputs[:64], labels[:64]), (inputs[64:], labels[64:]))]"
    out = tmp_path / "seen"
    loop = PROGRAM.replace("for x, y in torch.utils.data.DataLoader(train, batch_size=16, shuffle=True):", "for x, y in zip(inputs[:64].split(16), labels[:64].split(16)):")
    got = run(script(loop.replace("MODE", "pass").replace("LOOK", look).replace("OUT", repr(str(out)))))
    names = [item["name"] for item in got.of("scalar") if item["name"].startswith("held-out loss")]
    assert names.count("held-out loss") == names.count("held-out loss 2") == 4


def test_batches_made_by_hand(run, script, tmp_path):
    loop = PROGRAM.replace("for x, y in torch.utils.data.DataLoader(train, batch_size=16, shuffle=True):", "for x, y in zip(inputs[:64].split(16), labels[:64].split(16)):")
    out = tmp_path / "seen"
    got = run(script(loop.replace("MODE", "net.eval()").replace("LOOK", BY_HAND).replace("OUT", repr(str(out)))))
    assert got.observations("probe-failure") == []
    told = [item["value"] for item in got.of("scalar") if item["name"] == "held-out loss"]
    assert told == pytest.approx([float(word) for word in out.read_text().split()])
