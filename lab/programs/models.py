"""Models for each kind of task, as class text whose forward can be changed by a fault."""

ACTIVATIONS = {"relu": "nn.ReLU()", "tanh": "nn.Tanh()", "sigmoid": "nn.Sigmoid()", "gelu": "nn.GELU()"}


def net(init: list, forward: list, arguments: str = "x") -> tuple:
    """The lines of a module's __init__ and forward."""
    return init, forward, arguments


def mlp(rng, facts: dict) -> tuple:
    act = facts["activation"]
    depth, width = facts["depth"], facts["width"]
    init, forward, inputs = [], [], facts["inputs"]
    for index in range(depth):
        init.append(f"self.fc{index} = nn.Linear({inputs}, {width})")
        init.append(f"self.act{index} = {ACTIVATIONS[act]}")
        forward.append(f"x = self.act{index}(self.fc{index}(x))")
        if facts.get("norm"):
            init.append(f"self.norm{index} = nn.BatchNorm1d({width})")
            forward[-1] = f"x = self.act{index}(self.norm{index}(self.fc{index}(x)))"
        if facts.get("dropout"):
            init.append(f"self.drop{index} = nn.Dropout({facts['dropout']})")
            forward.append(f"x = self.drop{index}(x)")
        inputs = width
    init.append(f"self.out = nn.Linear({inputs}, {facts['outputs']})")
    return net(init, forward + ["return self.out(x)"])


def linear(rng, facts: dict) -> tuple:
    return net([f"self.out = nn.Linear({facts['inputs']}, {facts['outputs']})"], ["return self.out(x)"])


def cnn(rng, facts: dict) -> tuple:
    size = facts["inputs"] // 2
    init = ["self.conv0 = nn.Conv2d(1, 12, 3, padding=1)", "self.norm0 = nn.BatchNorm2d(12)", f"self.act0 = {ACTIVATIONS[facts['activation']]}",
            "self.conv1 = nn.Conv2d(12, 16, 3, padding=1)", "self.norm1 = nn.BatchNorm2d(16)", "self.pool = nn.MaxPool2d(2)",
            f"self.out = nn.Linear({16 * size * size}, {facts['outputs']})"]
    forward = ["x = self.act0(self.norm0(self.conv0(x)))", "x = self.pool(self.act0(self.norm1(self.conv1(x))))", "return self.out(x.flatten(1))"]
    if not facts.get("norm", True):
        init = [line for line in init if "norm" not in line]
        forward = ["x = self.act0(self.conv0(x))", "x = self.pool(self.act0(self.conv1(x)))", forward[-1]]
    return net(init, forward)


def recurrent(rng, facts: dict) -> tuple:
    cell, width = facts["cell"], facts["width"]
    if facts["kind"] == "series":
        init, forward = [f"self.rnn = nn.{cell}(1, {width}, batch_first=True)"], ["states, _ = self.rnn(x)"]
    else:
        init = [f"self.embed = nn.Embedding({facts['inputs']}, 16)", f"self.rnn = nn.{cell}(16, {width}, batch_first=True)"]
        forward = ["states, _ = self.rnn(self.embed(x))"]
    init.append(f"self.out = nn.Linear({width}, {facts['outputs']})")
    pick = "states" if facts["kind"] == "language" else "states[:, -1]" if facts["kind"] == "series" else "states.mean(1)"
    return net(init, forward + [f"return self.out({pick})"])


def transformer(rng, facts: dict) -> tuple:
    init = [f"self.embed = nn.Embedding({facts['inputs']}, 32)", f"self.place = nn.Parameter(0.02 * torch.randn({facts['length']}, 32))",
            "layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)", "self.body = nn.TransformerEncoder(layer, 2)",
            f"self.out = nn.Linear(32, {facts['outputs']})"]
    if facts["kind"] == "language":
        init.append(f"self.mask = nn.Transformer.generate_square_subsequent_mask({facts['length']})")
        forward = ["x = self.body(self.embed(x) + self.place, mask=self.mask, is_causal=True)", "return self.out(x)"]
    else:
        forward = ["x = self.body(self.embed(x) + self.place)", "return self.out(x.mean(1))"]
    return net(init, forward)


def autoencoder(rng, facts: dict) -> tuple:
    act = ACTIVATIONS[facts["activation"]]
    return net([f"self.encode = nn.Sequential(nn.Linear(64, 48), {act}, nn.Linear(48, 12))",
                f"self.decode = nn.Sequential({act}, nn.Linear(12, 48), {act}, nn.Linear(48, 64))"], ["return self.decode(self.encode(x))"])


MODELS_OF = {
    "classes": {"mlp": mlp, "linear": linear}, "regression": {"mlp": mlp, "linear": linear}, "images": {"cnn": cnn},
    "tokens": {"recurrent": recurrent, "transformer": transformer}, "language": {"recurrent": recurrent, "transformer": transformer},
    "series": {"recurrent": recurrent}, "reconstruct": {"autoencoder": autoencoder},
}
