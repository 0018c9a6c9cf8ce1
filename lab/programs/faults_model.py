"""Faults of the model and of its loss."""

from programs.fault import ALWAYS, BY_EFFECT, CLASSES, MLP, REGRESSION, RELU, Fault, after_model, in_forward


def symmetric(program, rng):
    value = rng.choice([0.0, 0.0, 0.1])
    after_model(program, "for parameter in MODEL.parameters():", f"    nn.init.constant_(parameter, {value})")


def init_scale(program, rng):
    factor = rng.choice([0.003, 0.01, 30, 100])
    after_model(program, "with torch.no_grad():", "    for layer in MODEL.modules():", "        if isinstance(layer, nn.Linear):",
                f"            layer.weight *= {factor}", "            layer.bias.zero_()")


def dead(program, rng):
    after_model(program, "with torch.no_grad():", f"    MODEL.fc{program.facts['depth'] - 1}.bias.fill_({rng.choice([-5, -20, -100])}.0)")


def saturated(program, rng):
    if rng.random() < 0.5:
        factor = rng.choice([100, 300])
        after_model(program, "with torch.no_grad():", "    for layer in MODEL.modules():", "        if isinstance(layer, nn.Linear):",
                    f"            layer.weight *= {factor}")
    else:  # Many sigmoids in a row: the gradient is a quarter of itself at each.
        width = program.facts["width"]
        program.facts["init"].append(f"self.more = nn.Sequential(*[m for _ in range({rng.choice([8, 10])}) for m in (nn.Linear({width}, {width}), nn.Sigmoid())])")
        in_forward(program, "self.out(x)", "self.out(self.more(x))")


def double_softmax(program, rng):
    if program.facts["binary"]:
        in_forward(program, "self.out(x)", "torch.sigmoid(self.out(x))")
    else:
        last = program.forward_lines[-1]
        program.forward_lines[-1] = last.replace("return ", "return torch.softmax(") + ", dim=-1)"


def wrong_pair(program, rng):
    how = rng.choice(["nll", "relu", "mse-sigmoid", "tanh"])
    if program.facts["kind"] == "regression":
        shape = {"nll": "torch.sigmoid", "relu": "torch.relu", "mse-sigmoid": "torch.sigmoid", "tanh": "torch.tanh"}[how]
        in_forward(program, "self.out(x)", "self.last(self.out(x))")
        program.facts["init"].append({"torch.sigmoid": "self.last = nn.Sigmoid()", "torch.relu": "self.last = nn.ReLU()",
                                      "torch.tanh": "self.last = nn.Tanh()"}[shape])
        program.add("spoil", "y = 4 * y")
    elif how in ("nll", "tanh"):
        in_forward(program, "self.out(x)", "torch.softmax(self.out(x), dim=-1)")
        program.put("loss", "CRIT = nn.NLLLoss()")
        program.put("loss_line", "LOSS = CRIT(OUT, YB)")
    else:  # Class numbers as a value to regress to, through a sigmoid.
        program.facts["init"].append("self.last = nn.Sigmoid()")
        in_forward(program, "self.out(x)", "self.last(self.out(x))")
        program.put("loss", "CRIT = nn.MSELoss()")
        program.put("loss_line", "LOSS = CRIT(OUT.max(1).values, YB.float())")


def broadcast(program, rng):
    program.put("loss_line", "LOSS = CRIT(OUT, YB.squeeze(1))")


def left_in_eval(program, rng):
    for place in ("epoch_end",):
        program.parts[place] = [line for line in program.parts[place] if line != "MODEL.train()"]


def small_batches(program, rng):
    program.batch = 2
    program.epochs = max(1, 500 * program.batch // program.facts["count"])
    program.loader_options += ", drop_last=True"


def lone_sample(program, rng):
    count = program.facts["count"]
    program.batch = next(size for size in range(rng.choice([8, 20, 31]), count) if count % size == 1)


def constant(program, rng):
    """A model that throws its input away."""
    in_forward(program, "self.out(x", "self.out(0 * x" if rng.random() < 0.5 else "self.out(x.mean(0, keepdim=True).expand_as(x)")


BN = dict(kinds=("classes", "images"), models=("mlp", "cnn"), norm=True)
FAULTS = (
    Fault("symmetric-init", ("symmetric-init",), symmetric, {**MLP, "kinds": ("classes",)}),
    Fault("bad-init-scale", ("bad-init-scale",), init_scale, {**MLP, "depths": (3, 4), "activations": ("relu", "tanh")}, BY_EFFECT),
    Fault("dead-relu", ("dead-relu",), dead, RELU, BY_EFFECT),
    Fault("saturation", ("saturation", "bad-init-scale"), saturated, {**MLP, "activations": ("sigmoid", "tanh"), "depths": (2, 3)}, BY_EFFECT),
    Fault("double-softmax", ("double-softmax",), double_softmax, {**CLASSES, "models": ("mlp",), "optimizers": ("SGD", "momentum"), "samples_min": 700, "steps": 150, "smoothings": ("",)}),
    Fault("wrong-loss-activation", ("wrong-loss-activation", "double-softmax"), wrong_pair,
          dict(kinds=("classes", "regression"), models=("mlp",), regression_losses=("MSELoss",), smoothings=("",), binary=0, validate=False)),
    Fault("target-broadcast", ("target-broadcast",), broadcast, REGRESSION),
    Fault("eval-mode-left-on", ("eval-mode-left-on",), left_in_eval, {**BN, "validate": True, "dropout": 0.3}, ALWAYS),
    Fault("bn-small-batch", ("bn-small-batch",), small_batches, {**BN, "kinds": ("classes",), "depths": (3,), "validate": True, "styles": ("script", "functions", "trainer")}, BY_EFFECT),
    Fault("batchnorm-single-sample", ("batchnorm-single-sample",), lone_sample,
          {**BN, "kinds": ("classes",), "styles": ("script", "functions", "trainer", "manual")}, ALWAYS, "stop"),
    Fault("constant-prediction", ("constant-prediction",), constant, {**MLP, "kinds": ("classes", "regression")}),
)
