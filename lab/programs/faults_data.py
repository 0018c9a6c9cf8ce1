"""Faults of the data, and values that are not finite."""

from programs.fault import ALWAYS, BY_EFFECT, CLASSES, DESCENT, MLP, Fault, in_forward


def spoil_labels(program, *lines: str) -> None:
    program.y_clean = True
    program.add("spoil", "y_clean = y.clone()", *lines)


def random_labels(program, rng):
    spoil_labels(program, rng.choice(["y = y[torch.randperm(len(y))]", f"y = torch.randint(0, {program.facts['classes']}, y.shape)"]))


def shifted_labels(program, rng):
    spoil_labels(program, rng.choice(["y = torch.roll(y, 1)", "y = torch.cat([y[7:], y[:7]])", "y = y.flip(0)"]))


def imbalance(program, rng):
    keep = rng.choice([4, 8])
    program.add("spoil", f"keep = (y == 0) | (torch.cumsum((y != 0).long(), 0) <= {keep})", "x = torch.cat([x[keep]] + [x[y == 0]] * 3)",
                "y = torch.cat([y[keep]] + [y[y == 0]] * 3)", "mixed = torch.randperm(len(x))", "x, y = x[mixed], y[mixed]")


def raw_inputs(program, rng):
    factor = rng.choice([255, 1e3, 1e4, 1e-3, 1e-4])
    how = rng.choice(["all", "all", "column"])
    if how == "column" and factor > 1:
        program.add("spoil", f"x[..., 0] = x[..., 0] * {factor * 10:g}")
    else:
        program.add("spoil", f"x = x * {factor:g}", f"xv = xv * {factor:g}")


def raw_targets(program, rng):
    factor, shift = rng.choice([(1000, 0), (1e4, 0), (300, 5000), (1, 3000), (1e5, 2e5)])
    program.add("spoil", f"y = {factor:g} * y + {shift:g}", f"yv = {factor:g} * yv + {shift:g}")


def nan_rows(program, rng):
    value = rng.choice(["float('nan')", "float('nan')", "float('inf')"])
    program.add("spoil", f"x[torch.randperm(len(x))[:{rng.choice([1, 5, 40])}], ..., 0] = {value}")


def sentinel(program, rng):
    program.add("spoil", f"gaps = torch.rand_like(x) < {rng.choice([0.05, 0.2])}", f"x = torch.where(gaps, torch.tensor({rng.choice([-999.0, -9999.0])}), x)")


def sorted_data(program, rng):
    program.add("spoil", "order = torch.argsort(y, stable=True)", "x, y = x[order], y[order]")
    program.loader_options = "shuffle=False"


def empty(program, rng):
    program.add("spoil", f"keep = x.flatten(1).sum(1) > {rng.choice([1e6, 1e9]):g}", "x, y = x[keep], y[keep]")
    program.facts["no_score"] = True


def bad_math(program, rng):
    how = rng.choice(["log", "sqrt", "divide", "norm"])
    if how == "log":
        in_forward(program, "self.out(x)", "torch.log(self.out(x))")
    elif how == "sqrt":
        in_forward(program, "self.out(x)", "torch.sqrt(self.out(x))")
    elif how == "divide":
        program.first("forward", "XB = XB / (XB > 4).float()")
    else:
        program.add("loss_line", "LOSS = LOSS + 0.1 * (0 * OUT).norm() / (0 * OUT).norm()")


def spike(program, rng):
    """Half way something throws the network off: one broken batch, one step of a huge rate, weights that were touched."""
    at, how = program.epochs // 2, rng.choice(["batch", "rate", "weights"])
    program.add("before_loop", "thrown = False")
    if how == "batch":
        program.add("batch", f"if epoch == {at} and not thrown:", f"    thrown, XB = True, XB * {rng.choice([300, 1000, 3000])}")
    elif how == "rate":
        program.first("step", f"if epoch == {at} and not thrown:", "    for group in OPT.param_groups:", f"        group['lr'] *= {rng.choice([100, 300])}")
        program.add("step", f"if epoch == {at} and not thrown:", "    thrown = True", "    for group in OPT.param_groups:", f"        group['lr'] = {program.facts['lr']}")
    else:
        program.first("epoch_begin", f"if epoch == {at}:", "    for parameter in MODEL.parameters():", f"        parameter.data *= {rng.choice([5, 10, 30])}")


def overfit(program, rng):
    program.add("spoil", "x, y = x[:48], y[:48]", f"noisy = torch.rand(48) < {rng.choice([0.2, 0.3])}",
                f"y[noisy] = (y[noisy] + 1) % {program.facts['classes']}")
    program.epochs, program.batch, program.facts["count"] = 150, 16, 48


def masked(program, rng):
    """Attention written by hand, over texts of which some are padding and nothing else."""
    program.facts["init"][:] = [line for line in program.facts["init"] if "layer" not in line] + ["self.query, self.key = nn.Linear(32, 32), nn.Linear(32, 32)"]
    program.forward_lines[:] = [f"padding = (x[:, :1] > {rng.choice([15, 17, 18])}).expand_as(x)", "x = self.embed(x) + self.place",
                                "scores = self.query(x) @ self.key(x).transpose(1, 2) / 32 ** 0.5",
                                "scores = scores.masked_fill(padding[:, None, :], float('-inf'))", "x = torch.softmax(scores, dim=-1) @ x",
                                "return self.out(x.mean(1))"]


def ignored(program, rng):
    program.put("loss", "CRIT = nn.CrossEntropyLoss(ignore_index=-100)")
    program.put("loss_line", "LOSS = CRIT(OUT, YB)")
    program.add("batch", f"if torch.rand(()) < {rng.choice([0.02, 0.1])}:", "    YB = torch.full_like(YB, -100)")


def half(program, rng):
    """16-bit floats end at 65504."""
    program.add("touch", "MODEL.half()")
    program.add("spoil", "x, xv = x.half(), xv.half()", *(["y, yv = y.half(), yv.half()"] if program.facts["kind"] == "regression" else []))
    program.add("spoil", "x = x * 3000" if rng.random() < 0.7 else "x = x * 1000")


VECTORS = dict(kinds=("classes", "classes", "regression"), models=("mlp", "linear"))
# A network that can learn its labels by heart looks like one that learns.
TOO_MANY_TO_LEARN_BY_HEART = dict(kinds=("classes",), samples_min=1000, models=("mlp",), widths=(4, 6), depths=(1,), steps=250, binary=0)
FAULTS = (
    Fault("labels-random", ("labels-random", "labels-misaligned"), random_labels, TOO_MANY_TO_LEARN_BY_HEART),
    Fault("labels-misaligned", ("labels-random", "labels-misaligned"), shifted_labels, TOO_MANY_TO_LEARN_BY_HEART),
    Fault("class-imbalance", ("class-imbalance",), imbalance, {**CLASSES, "models": ("mlp",), "optimizers": ("SGD", "momentum"), "steps": 400, "smoothings": ("",), "schedules": ("none", "cosine", "step")}),
    Fault("unscaled-inputs", ("unscaled-inputs",), raw_inputs, {**VECTORS, "optimizers": ("SGD", "momentum", "Adam")}, BY_EFFECT),
    Fault("unscaled-targets", ("unscaled-targets",), raw_targets, dict(kinds=("regression",)), BY_EFFECT),
    Fault("nan-in-data", ("nan-in-data", "missing-values"), nan_rows, dict(kinds=("classes", "images", "series", "regression"))),
    Fault("missing-values", ("missing-values", "unscaled-inputs"), sentinel, {**VECTORS, "optimizers": ("SGD", "momentum")}, BY_EFFECT),
    Fault("order-not-shuffled", ("order-not-shuffled",), sorted_data, {**DESCENT, **CLASSES, "models": ("mlp",), "samples_min": 700, "steps": 300, "styles": ("script", "functions", "trainer", "manual")}),
    Fault("empty-dataset", ("empty-dataset",), empty, {"kinds": ("classes", "images"), "styles": ("script", "manual"), "logs": ("silent",), "validate": False,
                                                       "schedules": ("none",)}, ALWAYS, "stop"),
    Fault("invalid-math", ("invalid-math",), bad_math, MLP),
    Fault("loss-spike", ("loss-spike",), spike, {**DESCENT, "styles": ("script", "trainer", "manual"), "schedules": ("none",), "models": ("mlp",),
                                                 "kinds": ("classes",), "norm": False, "depths": (2, 3), "samples_min": 1000}),
    Fault("overfitting", ("overfitting",), overfit, {**CLASSES, "models": ("mlp",), "widths": (64, 128), "validate": True, "schedules": ("none",), "dropout": 0,
                                                    "logs": ("epoch",), "smoothings": ("",)}, ALWAYS),
    Fault("masked-softmax-nan", ("masked-softmax-nan",), masked, dict(kinds=("tokens",), models=("transformer",))),
    Fault("all-labels-ignored", ("all-labels-ignored",), ignored, dict(kinds=("tokens", "images"), smoothings=("",)), ALWAYS),
    Fault("fp16-overflow", ("fp16-overflow", "unscaled-inputs"), half, {**MLP, "validate": False, "kinds": ("classes",)}),
)
