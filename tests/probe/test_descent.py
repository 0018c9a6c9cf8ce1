"""Figures of descent without a scale, and weights that are changed without an optimizer."""

import torch

from whystop_probe.torch.descent import Descent
from whystop_probe.torch.tensors import Reader

TRAINING = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(512, 20)
labels = (inputs @ torch.randn(20, 4)).argmax(1)
if LABELS == "random":
    labels = torch.randint(0, 4, (512,))
net = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
for step in range(64):
    chosen = torch.randint(0, 512, (32,))
    loss = torch.nn.functional.cross_entropy(net(inputs[chosen]), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def last(run, script, rate, labels="real"):
    text = TRAINING.replace("RATE", str(rate)).replace("LABELS", f'"{labels}"')
    got = run(script(text))
    assert (got.code, got.err) == (0, "")
    assert got.observations("probe-failure") == []
    return got.observations("descent")[-1]


def test_a_rate_that_is_far_too_low_leaves_the_gradients_agreeing(run, script):
    seen = last(run, script, 1e-6)
    assert seen["agreement"] > 0.15
    assert 0 < seen["promised"] < 1e-5
    assert seen["along"] > 0.9, "plain descent follows its gradient"


def test_labels_without_meaning_leave_them_unrelated(run, script):
    meant, random = last(run, script, 0.01), last(run, script, 0.01, "random")
    assert meant["agreement"] > 0.2 > 0.12 > abs(random["agreement"])


def test_gradients_that_a_closure_makes_within_the_step_are_compared_with_the_next(run, script):
    """As Lightning calls it: ahead of the step the gradients are still those of the step before."""
    step = """    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
    closure = """    def closure():
        optimizer.zero_grad()
        loss.backward()
        return loss
    optimizer.step(closure)"""
    assert step in TRAINING
    text = TRAINING.replace(step, closure).replace("RATE", "0.01").replace("LABELS", '"random"')
    got = run(script(text))
    assert (got.err, got.observations("probe-failure")) == ("", [])
    seen = got.observations("descent")[-1]
    assert seen["pairs"] >= 10 and abs(seen["agreement"]) < 0.12


def test_stretches_grow_and_the_last_one_is_told(run, script):
    got = run(script(TRAINING.replace("RATE", "0.1").replace("LABELS", '"real"').replace("range(64)", "range(100)")))
    told = [(item["from"], item["to"]) for item in got.observations("descent")]
    assert told[0] == (1, 16)
    assert told[1:] in ([(17, 64)], [(17, 100)], [(17, 64), (65, 100)])  # Where tokens are short one ends late, or holds nothing.


BY_HAND = """
import torch
torch.manual_seed(0)
weight = torch.randn(5, 1, requires_grad=True)
inputs = torch.randn(64, 5)
targets = inputs @ torch.ones(5, 1)
for step in range(40):
    loss = (inputs @ weight - targets).pow(2).mean()
    CHANGE
    if step == 39:
        print(loss.item())
"""
IN_PLACE = """loss.backward()
    with torch.no_grad():
        weight -= 0.1 * weight.grad
        weight.grad = None"""
REPLACED = """weight = (weight - 0.1 * torch.autograd.grad(loss, weight)[0]).detach().requires_grad_()"""
NOT_AT_ALL = "loss.backward()"


def test_updates_by_hand_are_seen_with_their_losses(run, script):
    for change, series in ((IN_PLACE, "loss"), (REPLACED, "value given to grad()")):
        got = run(script(BY_HAND.replace("CHANGE", change)))
        assert got.err == ""
        seen = got.observations("updates-by-hand")
        assert [item["backwards"] for item in seen] == [4, 16]
        assert seen[-1]["changed"] == seen[-1]["tensors"] == 1
        losses = [item["value"] for item in got.of("scalar") if item["name"] == series]
        assert len(losses) == 40
        assert losses[-1] < 0.01 * losses[0]


def test_weights_that_nobody_changes_are_seen_as_such(run, script):
    got = run(script(BY_HAND.replace("CHANGE", NOT_AT_ALL)))
    assert [item["changed"] for item in got.observations("updates-by-hand")] == [0, 0]


def test_an_environment_is_named(run, script, tmp_path):
    (tmp_path / "gymnasium.py").write_text("")
    got = run(script("import gymnasium\n" + TRAINING.replace("RATE", "0.1").replace("LABELS", '"real"')))
    assert got.one("environment")["libraries"] == "gymnasium"


def test_an_environment_that_a_library_imports_for_itself_is_not_named(run, script, tmp_path):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "gymnasium.py").write_text("")
    (packages / "helpers_for_all.py").write_text("import gymnasium\n")
    got = run(script(f"import sys\nsys.path.insert(0, {str(packages)!r})\nimport helpers_for_all\n" + TRAINING.replace("RATE", "0.1").replace("LABELS", '"real"')))
    assert not got.observations("environment")


def test_what_plain_tensors_begin_with_and_are_trained_by_is_told(run, script):
    """No module and no optimizer: the loss and the size of the weights are known all the same."""
    source = """
import torch
torch.manual_seed(0)
first, bias, last = (torch.randn(8, 16) * 1e-5).requires_grad_(), torch.zeros(16, requires_grad=True), (torch.randn(16, 4) * 1e-5).requires_grad_()
for step in range(20):
    outputs = torch.relu(torch.randn(32, 8) @ first + bias) @ last
    torch.nn.functional.cross_entropy(outputs, torch.randint(0, 4, (32,))).backward()
    with torch.no_grad():
        for tensor in (first, bias, last):
            tensor -= 0.1 * tensor.grad
            tensor.grad = None
"""
    got = run(script(source))
    assert (got.code, got.err, got.observations("probe-failure")) == (0, "", [])
    assert {call["classes"] for call in got.observations("loss-call")} == {4}
    assert got.observations("initial-gain")[0]["matrices"] == 2
    assert got.observations("initial-gain")[0]["median"] < 1e-3


class Steps:
    """As much of a training as the figures of descent ask for."""

    step = 7

    class pulse:
        backwards = 3


def test_a_gradient_that_was_not_compared_at_the_next_step_is_not_waited_for():
    """Or attention is paid to every step from there on: which costs the tokens for which it waits."""
    training, weight = Steps(), torch.nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    descent = Descent(torch, training, Reader(torch))
    descent.on_update("weight", weight, torch.full((3,), -0.1))
    assert descent.waits
    training.step = 8  # Tokens were short: nobody compared.
    assert not descent.waits
