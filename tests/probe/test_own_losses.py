"""Losses written by hand are told like those of torch's own functions: outputs, targets, and which function it would be."""

import pytest

HEAD = """
import torch
torch.manual_seed(0)
inputs, numbers = torch.randn(64, 8), torch.randn(64) * 3 + 5
labels = torch.randint(0, 5, (64,))
flags = (torch.rand(64) < 0.25).float()
rows = torch.nn.functional.one_hot(labels, 5).float()
one, five = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)), torch.nn.Linear(8, 5)
optimizer = torch.optim.SGD([*one.parameters(), *five.parameters()], lr=1e-4)
for step in range(3):
    number, scores = one(inputs).squeeze(1), five(inputs)
    optimizer.zero_grad()
    loss = LOSS
    loss.backward()
    optimizer.step()
"""

LOSSES = {
    "((number - numbers) ** 2).mean()": "mse_loss",
    "((number.double() - numbers) ** 2).mean()": "mse_loss",
    "(numbers - number).pow(2).sum() / 64": "mse_loss",
    "torch.sqrt(torch.square(number - numbers).mean())": "rmse_loss",
    "(one(inputs)[:, 0] - numbers).abs().mean()": "l1_loss",
    "((inputs @ five.weight[0] + five.bias[0] - numbers) ** 2).mean()": "mse_loss",
    "-torch.log_softmax(scores, 1)[torch.arange(64), labels].mean()": "cross_entropy",
    "-torch.log_softmax(scores, 1).gather(1, labels[:, None]).mean()": "cross_entropy",
    "-(rows * torch.log(torch.softmax(scores, 1) + 1e-9)).sum(1).mean()": "cross_entropy",
    "-torch.log(torch.softmax(scores, 1)[torch.arange(64), labels]).mean()": "cross_entropy",
    "-(flags * torch.log(torch.sigmoid(number)) + (1 - flags) * torch.log(1 - torch.sigmoid(number))).mean()": "binary_cross_entropy",
    "((number - numbers) ** 2).mean() + 3 * number.abs().mean()": None,
    "-(number * numbers).mean()": None,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_loss_written_by_hand_compares_is_told(run, script, loss):
    function = LOSSES[loss]
    got = run(script(HEAD.replace("LOSS", loss)))
    assert (got.code, got.err) == (0, "")
    assert got.observations("probe-failure") == []
    calls = got.observations("loss-call")
    assert [call["function"] for call in calls] == ([function] * 3 if function else [])
    for call in calls:
        assert call["by_hand"] == 1
        if function in ("mse_loss", "rmse_loss", "l1_loss"):
            assert call["target_mean"] == pytest.approx(5, abs=1)
            assert call["target_std"] == pytest.approx(3, abs=0.6)
        if function == "cross_entropy":
            assert (call["classes"], call["label_distinct"]) == (5, 5)
        if function == "binary_cross_entropy":
            assert (call["target_min"], call["target_max"]) == (0, 1)


@pytest.mark.parametrize("call, summed", [("functional.cross_entropy(scores, labels, reduction='sum')", 1), ("CrossEntropyLoss(reduction='sum')(scores, labels)", 1),
                                          ("functional.cross_entropy(scores, labels)", None)])
def test_a_loss_that_is_summed_over_the_batch_is_told(run, script, call, summed):
    got = run(script(HEAD.replace("LOSS", "torch.nn." + call)))
    assert got.observations("probe-failure") == []
    assert [told.get("summed") for told in got.observations("loss-call")] == [summed] * 3


def test_losses_of_torch_are_told_once(run, script):
    got = run(script(HEAD.replace("LOSS", "torch.nn.functional.l1_loss(number, numbers)")))
    assert got.observations("probe-failure") == []
    assert ["by_hand" in call for call in got.observations("loss-call")] == [False] * 3


WEIGHTS = {
    "torch.nn.functional.cross_entropy(scores, labels, weight=torch.tensor([1.0, 2.0, 0.5, 1.0, 1.0]))": {"weighted": 1, "class_weights": "1,2,0.5,1,1"},
    "torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor([3.0]))(number, flags)": {"weighted": 1, "pos_weight": 3},
    "torch.nn.functional.binary_cross_entropy_with_logits(number, flags, weight=torch.ones(64))": {"weighted": 1},
    "torch.nn.functional.cross_entropy(scores, labels)": {},
}


@pytest.mark.parametrize("loss", WEIGHTS)
def test_weights_of_samples_and_classes_are_told(run, script, loss):
    got = run(script(HEAD.replace("LOSS", loss)))
    assert (got.code, got.err) == (0, "")
    call = got.observations("loss-call")[-1]
    assert {name: call[name] for name in ("weighted", "class_weights", "pos_weight") if name in call} == WEIGHTS[loss]


DRAWN = {
    "labels": {"name": "labels", "call": "torch.randint", "line": 5},
    "rows.argmax(1)": None,  # Computed.
    "sorted_labels": None,  # Drawn, and then put in order.
}


@pytest.mark.parametrize("targets", DRAWN)
def test_targets_that_were_drawn_at_random_are_told(run, script, targets):
    order = "sorted_labels = torch.randint(0, 5, (64,))\nsorted_labels = sorted_labels.sort().values\nfor step"
    got = run(script(HEAD.replace("for step", order).replace("LOSS", f"torch.nn.functional.cross_entropy(scores, {targets})")))
    assert got.observations("probe-failure") == []
    told = [{name: item[name] for name in ("name", "call", "line")} for item in got.observations("targets-drawn")]
    assert told == ([DRAWN[targets]] if DRAWN[targets] else [])
