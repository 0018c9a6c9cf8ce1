"""Each intervention changes what it says, and nothing else is needed for it: in this process, with the places it acts at taken back
after every test."""

import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from whystop_probe.torch.losses import NAMES  # noqa: E402
from whystop_probe.trial.guess import Guess  # noqa: E402
from whystop_probe.trial.intervention import Intervention  # noqa: E402
from whystop_probe.trial.interventions import TABLE, make  # noqa: E402
from whystop_probe.trial.places import Places  # noqa: E402
from whystop_probe.trial.survey import Survey  # noqa: E402

F = torch.nn.functional
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def put_back():
    """Everything that Places and the interventions replace."""
    hooks = sys.modules["torch.optim.optimizer"]
    owners = [(F, name) for name in (*NAMES, "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")]
    owners += [(torch.nn.Module, name) for name in ("__call__", "half", "bfloat16", "to")]
    owners += [(torch.Tensor, name) for name in ("half", "bfloat16", "to")]
    owners += [(torch.utils.data.DataLoader, "__init__"), (torch.autograd, "backward"), (torch, "manual_seed"),
               (torch.optim.Optimizer, "__init__"), (torch.amp.autocast_mode.autocast, "__init__"),
               (torch.amp.autocast_mode.autocast, "__enter__")]
    import random

    owners.append((random, "seed"))
    kept = [(owner, name, getattr(owner, name)) for owner, name in owners if hasattr(owner, name)]
    pre, post = dict(hooks._global_optimizer_pre_hooks), dict(hooks._global_optimizer_post_hooks)
    yield
    for owner, name, value in kept:
        setattr(owner, name, value)
    for now, then in ((hooks._global_optimizer_pre_hooks, pre), (hooks._global_optimizer_post_hooks, post)):
        now.clear()
        now.update(then)
    torch.autograd.set_detect_anomaly(False)


class Witness(Intervention):
    """Sees what the model, the loss and the optimizer are given in the end."""

    def __init__(self):
        super().__init__("", torch)
        self.inputs, self.targets, self.outputs, self.rates, self.seeds, self.loaders = [], [], [], [], [], []

    def on_seed(self, seed):
        self.seeds.append(seed)
        return seed

    def on_loader(self, settings):
        self.loaders.append(dict(settings))

    def before_forward(self, module, args, kwargs):
        self.inputs.append(args[0].detach().clone())
        return args, kwargs

    def before_loss(self, function, input, target):
        self.outputs.append(input)
        self.targets.append(target.clone())
        return input, target

    def before_step(self, optimizer):
        self.rates.append(optimizer.param_groups[0]["lr"])


def under(spec):
    """The intervention and a witness behind it, in place."""
    name, _, value = spec.partition("=")
    intervention, witness, places = make(name, value, torch), Witness(), Places(torch)
    places.add(intervention)
    places.add(witness)
    places.install()
    return intervention, witness


def train(model, inputs, targets, steps=3, lr=0.1, loss=None, optimizer=None, clear=True, **settings):
    loss = loss or F.cross_entropy  # Asked now: it has been replaced.
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=lr, **settings)
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        value = loss(model(inputs), targets)
        value.backward()
        optimizer.step()
    return optimizer


def data(samples=16, features=4, classes=3):
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(samples, features, generator=generator)
    return inputs, torch.randint(0, classes, (samples,), generator=generator)


def test_every_intervention_has_a_file_and_says_what_it_tests():
    for name in TABLE:
        made = make(name, "1", torch)
        assert made.name == name and isinstance(made.tests, tuple)
        assert sys.modules[type(made).__module__].__doc__


@pytest.mark.parametrize(("spec", "wanted"), [("lr-times=0.1", 0.05), ("lr=0.3", 0.3)])
def test_rate_is_changed_for_the_step_and_put_back(spec, wanted):
    intervention, witness = under(spec)
    optimizer = train(torch.nn.Linear(4, 3), *data(), lr=0.5)
    assert witness.rates == pytest.approx([wanted] * 3)
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert intervention.applied == 3


def test_rate_is_held_under_a_schedule():
    _, witness = under("lr-hold")
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1)
    for _ in range(3):
        train(model, *data(), steps=1, optimizer=optimizer)
        schedule.step()
    assert witness.rates == pytest.approx([0.5] * 3)


def test_gradients_are_cleared_once_a_step():
    intervention, _ = under("zero-grad")
    model = torch.nn.Linear(4, 3)
    inputs, targets = data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    seen = []
    for _ in range(3):
        for _ in range(2):  # Accumulation within a step stays.
            F.cross_entropy(model(inputs), targets).backward()
        seen.append(float(model.weight.grad.norm()))
        optimizer.step()
    assert seen == pytest.approx([seen[0]] * 3)
    assert intervention.applied > 0


def test_weight_decay_and_clipping():
    under("weight-decay=0")
    optimizer = train(torch.nn.Linear(4, 3), *data(), weight_decay=0.5)
    assert optimizer.param_groups[0]["weight_decay"] == 0
    intervention, _ = under("clip=0.001")
    model = torch.nn.Linear(4, 3)
    train(model, *data())
    assert float(torch.cat([p.grad.reshape(-1) for p in model.parameters()]).norm()) <= 0.0011
    assert intervention.applied == 3


def test_dropout_is_off():
    intervention, _ = under("dropout-off")
    dropped = torch.nn.Dropout(0.9)(torch.ones(100))
    assert bool((dropped == 1).all()) and intervention.applied == 1


def test_training_mode_is_forced():
    intervention, _ = under("train-mode")
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).eval()
    train(model, *data(), steps=1)
    assert model.training and intervention.applied == 1


def test_frozen_and_forgotten_parameters_learn():
    intervention, _ = under("unfreeze")
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Linear(5, 3))
    model[0].weight.requires_grad_(False)
    before = model[0].weight.clone(), model[1].weight.clone()
    optimizer = torch.optim.SGD([model[0].weight, model[0].bias], lr=0.1)  # The second layer is forgotten.
    train(model, *data(), optimizer=optimizer)
    assert not torch.equal(before[0], model[0].weight) and not torch.equal(before[1], model[1].weight)
    assert intervention.applied == 3


def test_layers_begin_anew():
    intervention, _ = under("default-init")
    model = torch.nn.Linear(400, 3)
    torch.nn.init.constant_(model.weight, 100.0)
    state = torch.get_rng_state()
    train(model, *data(features=400), steps=1, lr=0.0)
    assert float(model.weight.detach().abs().max()) < 1 and intervention.applied == 1
    assert torch.equal(state, torch.get_rng_state())


def test_inputs_get_one_scale():
    intervention, witness = under("standardise-inputs")
    inputs, targets = data(64)
    wild = inputs * torch.tensor([1.0, 1000.0, 1e-3, 0.0]) + torch.tensor([0.0, 500.0, 0.0, 7.0])
    train(torch.nn.Linear(4, 3), wild, targets, steps=1)
    seen = witness.inputs[0]
    assert bool(torch.isfinite(seen).all()) and float(seen.abs().max()) <= 10
    assert seen[:, :3].std(dim=0).tolist() == pytest.approx([1.0] * 3, rel=0.5)
    assert bool((seen[:, 3] == 0).all())  # A constant column says nothing, and is no NaN.
    assert intervention.applied == 1


def test_targets_of_a_regression_get_one_scale():
    _, witness = under("standardise-targets")
    inputs, _ = data(64)
    train(torch.nn.Linear(4, 1), inputs, inputs[:, :1] * 5000 + 100000, steps=1, loss=F.mse_loss, lr=0.0)
    assert float(witness.targets[0].std()) == pytest.approx(1.0, rel=0.01)
    assert float(witness.targets[0].mean()) == pytest.approx(0.0, abs=0.01)


def test_fillers_and_gaps_are_filled_and_outliers_stay():
    _, witness = under("fill-odd-values")
    inputs, targets = data(200)
    inputs[:20, 1] = -999.0
    inputs[5, 2] = float("nan")
    inputs[7, 0] = 30.0  # Far away, but only once: data.
    train(torch.nn.Linear(4, 3), inputs, targets, steps=1)
    seen = witness.inputs[0]
    assert bool(torch.isfinite(seen).all()) and float(seen.min()) > -10
    assert float(seen[7, 0]) == 30.0
    assert torch.equal(seen[20:, 1], inputs[20:, 1])


def test_softmax_before_cross_entropy_is_undone():
    intervention, witness = under("undo-softmax")
    model = torch.nn.Linear(4, 3)
    inputs, targets = data()
    expected = float(F.cross_entropy(model(inputs), targets))
    train(torch.nn.Sequential(model, torch.nn.Softmax(dim=1)), inputs, targets, steps=1, lr=0.0)
    assert float(F.cross_entropy(witness.outputs[-1], targets)) == pytest.approx(expected, rel=1e-4)
    assert intervention.applied >= 1


def test_target_gets_the_shape_of_the_output():
    intervention, witness = under("reshape-target")
    inputs, _ = data()
    train(torch.nn.Linear(4, 1), inputs, inputs[:, 0], steps=1, loss=F.mse_loss)
    assert witness.targets[0].shape == (16, 1) and intervention.applied == 1


def test_loaders_are_rearranged():
    dataset = torch.utils.data.TensorDataset(*data(10))
    for spec, expected in (("shuffle", {"shuffle": True}), ("batch-times=4", {"batch_size": 8}), ("drop-last", {"drop_last": True}),
                           ("no-workers", {"num_workers": 0})):
        intervention, witness = under(spec)
        torch.utils.data.DataLoader(dataset, 2, num_workers=1)
        assert expected.items() <= witness.loaders[-1].items(), spec
        assert intervention.applied == 1, spec


def test_sixteen_bits_become_thirty_two():
    intervention, _ = under("float32")
    assert torch.nn.Linear(2, 2).half().weight.dtype == torch.float32
    assert torch.ones(2).to(torch.float16).dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype == torch.float32
    assert intervention.applied >= 3


def test_anomaly_mode_is_on():
    under("anomaly")
    assert torch.is_anomaly_enabled()


def test_patience_of_objects_is_raised_and_that_of_schedules_is_not():
    class Stopper:
        def __init__(self):
            self.patience = 3

    stopper, model = Stopper(), torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=4)
    under("patience=10")
    train(model, *data(), optimizer=optimizer)
    assert stopper.patience == 50 and schedule.patience == 4


def test_the_first_samples_come_again_in_batches_of_the_same_size():
    intervention, witness = under("one-batch=4")
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first, second = data(16), (torch.randn(12, 4), torch.zeros(12, dtype=torch.int64))
    train(model, *first, steps=1, optimizer=optimizer)
    train(model, *second, steps=1, optimizer=optimizer)
    assert witness.inputs[1].shape == (12, 4)
    assert torch.equal(witness.inputs[1], first[0][:4].repeat(3, 1))
    assert torch.equal(witness.targets[1], first[1][:4].repeat(3))
    assert intervention.applied == 2


def test_labels_are_dealt_out_anew():
    _, witness = under("permute-labels")
    inputs, targets = data(64)
    train(torch.nn.Linear(4, 3), inputs, targets, steps=2)
    assert not torch.equal(witness.targets[0], targets) and not torch.equal(witness.targets[0], witness.targets[1])
    assert torch.equal(witness.targets[0].sort().values, targets.sort().values)


def test_another_seed_is_set():
    _, witness = under("seed=7")
    torch.manual_seed(5)
    assert witness.seeds == [12] and torch.initial_seed() == 12


def test_training_goes_on_from_a_file(tmp_path, monkeypatch):
    source = torch.nn.Linear(4, 3)
    torch.save([source.state_dict()], tmp_path / "state")
    monkeypatch.setenv("WHYSTOP_TRIAL_STATE", str(tmp_path / "state"))
    intervention, _ = under("continue")
    model = torch.nn.Linear(4, 3)
    train(model, *data(), steps=1, lr=0.0)
    assert torch.equal(model.weight, source.weight) and intervention.applied == 1


def test_held_out_samples_teach_nothing_and_are_the_same_in_every_batch():
    from whystop_probe.trial.interventions.hold_out import chosen

    inputs, targets = data(256)
    mask = chosen(torch, inputs)
    order = torch.randperm(256)
    assert torch.equal(chosen(torch, inputs[order]), mask[order])
    assert 0.3 < float(mask.double().mean()) < 0.7
    intervention, _ = under("hold-out")
    model = torch.nn.Linear(4, 3)
    train(model, inputs, targets, steps=1, lr=0.0)
    expected = torch.autograd.grad(F.cross_entropy(torch.where(mask[:, None], model(inputs).detach(), model(inputs)), targets), model.weight)
    assert torch.allclose(model.weight.grad, expected[0], atol=1e-6)
    assert intervention.held is not None


def test_a_plain_network_stands_in_and_learns():
    intervention, _ = under("stand-in=0.01")
    inputs, _ = data(1024)
    targets = (inputs[:, 0] * inputs[:, 1] > 0).long()  # No line separates these.
    model = torch.nn.Linear(4, 2)
    before = model.weight.clone()
    train(model, inputs, targets, steps=100)
    assert torch.equal(before, model.weight)
    assert intervention.held[0] < 0.7 * intervention.held[1]


def test_guessing_costs_what_the_best_constant_costs():
    inputs, targets = data(300)
    counts = torch.bincount(targets, minlength=3).double() / 300
    guess = Guess(torch).cost("cross_entropy", F.cross_entropy, torch.randn(300, 3), targets)
    assert guess == pytest.approx(float(-(counts * counts.log()).sum()), rel=1e-3)
    numbers = torch.randn(300, 1) * 3 + 5
    assert Guess(torch).cost("mse_loss", F.mse_loss, torch.randn(300, 1), numbers) == pytest.approx(float(numbers.var(unbiased=False)), rel=1e-3)


def test_validation_is_left_alone():
    intervention, witness = under("permute-labels")
    model = torch.nn.Linear(4, 3)
    torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.no_grad():
        F.cross_entropy(model(data()[0]), data()[1])
    assert intervention.applied == 0 and witness.inputs == []


def test_half_precision_that_was_left_before_the_step_is_told():
    survey = Survey(torch, None)
    assert "autocast" not in survey._facts
    with torch.autocast("cpu", dtype=torch.float16, enabled=False):
        pass
    assert survey._facts["autocast"] == 0
    with torch.autocast("cpu", dtype=torch.float16):
        pass
    assert survey._facts["autocast"] == 1


class Told:
    def __init__(self):
        self.facts = {}

    def observe(self, kind, step, **facts):
        assert kind == "trial-survey"
        self.facts = facts


def test_loaders_give_another_batch_and_memory_is_told():
    intervention, witness = under("batch=6")
    intervention.channel = told = Told()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data(24)), batch_size=4)
    other = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data(24)), batch_size=12)
    assert [loader.batch_size, other.batch_size] == [6, 12]
    model = torch.nn.Linear(4, 3)
    train(model, *next(iter(loader)), steps=2)
    assert {"own_batch": 4, "batch": 6, "samples": 24, "steps": 2, "by_loader": True}.items() <= told.facts.items()
    assert told.facts["model_bytes"] == told.facts["gradient_bytes"] == 60
    assert told.facts["peak_bytes"] >= told.facts["start_bytes"] > 0


@pytest.mark.parametrize("wanted", [5, 40])
def test_without_a_loader_inputs_and_targets_are_cut_or_repeated(wanted):
    intervention, witness = under(f"batch={wanted}")
    intervention.channel = told = Told()
    train(torch.nn.Linear(4, 3), *data(16), steps=1)
    assert witness.inputs[0].shape == (wanted, 4) and witness.targets[0].shape == (wanted,)
    assert told.facts["own_batch"] == 16 and told.facts["batch"] == wanted


def test_activations_are_computed_twice_and_the_gradients_are_the_same():
    layers = [torch.nn.Linear(4, 4) for _ in range(5)] + [torch.nn.Linear(4, 3)]
    inputs, targets = data()
    plain = torch.nn.Sequential(*layers)
    F.cross_entropy(plain(inputs), targets).backward()
    expected = [parameter.grad.clone() for parameter in plain.parameters()]
    intervention, _ = under("checkpoint")
    train(plain, inputs, targets, steps=1, lr=0.0)
    assert intervention.applied == 1
    assert all(torch.allclose(a, p.grad, atol=1e-6) for a, p in zip(expected, plain.parameters()))


def test_sixteen_bits_are_used_and_left_again():
    intervention, _ = under("bf16")
    model = torch.nn.Linear(4, 3)
    train(model, *data(), steps=1)
    assert intervention.applied == 1 and not torch.is_autocast_enabled("cpu")
    assert model.weight.dtype == torch.float32


def by_hand(outputs, targets):
    return ((outputs - targets) ** 2).mean()


def test_samples_are_held_out_of_a_loss_written_by_hand():
    intervention, _ = under("hold-out")
    inputs = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    targets = inputs.sum(dim=1, keepdim=True)
    model = torch.nn.Linear(4, 1)
    train(model, inputs, targets, steps=40, loss=by_hand)
    assert intervention.applied == 39  # From the second pass on: by then the loss is known to be one.
    loss, guess = intervention.held
    assert loss < 0.2 * guess


def test_outputs_are_flattened_where_a_loss_by_hand_compares_all_with_all():
    intervention, _ = under("reshape-target")
    inputs = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    model, targets = torch.nn.Linear(4, 1), inputs.sum(dim=1)
    train(model, inputs, targets, steps=60, loss=by_hand)
    assert intervention.applied == 59
    assert float(((model(inputs).squeeze(1) - targets) ** 2).mean().detach()) < 0.1
