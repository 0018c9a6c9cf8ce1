"""Faults of the step: rate, optimizer, calls that are missing, gradients, regularisation."""

from programs.fault import BY_EFFECT, CLASSIFIERS, DESCENT, IF_IT_HURTS, MLP, Fault, after_model, in_forward, set_rate

PLAIN = dict(schedules=("none",))
# Layers at random that are wide enough serve as well as learned ones.
NARROW = {**MLP, "depths": (2, 3), "widths": (4, 6), "samples_min": 700}


def rate_too_high(program, rng):
    set_rate(program, program.facts["lr"] * rng.choice([10, 30, 100, 300, 1000, 3000]))


def rate_too_low(program, rng):
    set_rate(program, program.facts["lr"] * rng.choice([1e-3, 1e-4, 1e-5]))


def rate_zero(program, rng):
    how = rng.choice(["zero", "lambda", "decay", "group"])
    if how == "zero":
        set_rate(program, 0.0)
    elif how == "lambda":  # Whole-number division: 0 from the first step on.
        program.put("schedule", "SCHED = torch.optim.lr_scheduler.LambdaLR(OPT, lambda n: n // 100000)")
        program.add("after_step", "SCHED.step()")
    elif how == "decay":  # Meant for epochs, called for steps.
        program.put("schedule", "SCHED = torch.optim.lr_scheduler.ExponentialLR(OPT, gamma=0.5)")
        program.add("after_step", "SCHED.step()")
    else:
        program.add("schedule", "for group in OPT.param_groups:", "    group['lr'] *= 0")


def exploding(program, rng):
    after_model(program, "with torch.no_grad():", f"    MODEL.rnn.weight_hh_l0 *= {rng.choice([4, 8, 20])}")
    program.put("optimizer", f"OPT = torch.optim.SGD(MODEL.parameters(), lr={rng.choice([0.05, 0.1, 0.3])})")
    program.facts["init"][:] = [line.replace("batch_first=True", "batch_first=True, nonlinearity='relu'") for line in program.facts["init"]]


def no_step(program, rng):
    program.put("step")


def no_backward(program, rng):
    program.put("backward")
    program.put("clip")


def no_zero(program, rng):
    program.put("zero")


def frozen(program, rng):
    keep = rng.choice(["'out.bias' not in name", "'bias' not in name"])
    after_model(program, "for name, parameter in MODEL.named_parameters():", f"    parameter.requires_grad = not ({keep})")


def wrong_parameters(program, rng):
    how = rng.choice(["again", "part", "list"])
    if how == "again":
        program.add("optimizer", "MODEL = Net()")
    elif how == "part":
        program.replace("optimizer", "MODEL.parameters()", "MODEL.out.parameters()")
    else:
        old = next(line for line in program.facts["init"] if line.startswith("self.fc0 = "))
        program.facts["init"][program.facts["init"].index(old)] = "self.layers = [" + old.split(" = ")[1] + "]"
        in_forward(program, "self.fc0(", "self.layers[0](")


def detached(program, rng):
    how = rng.choice([".detach()", ".data"])
    last = program.forward_lines[-1]
    program.forward_lines[-1] = last.replace("self.out(x", "self.out(x" + how, 1)
    if rng.random() < 0.3:
        program.forward_lines[-1] = last
        program.forward_lines[:-1] = ["with torch.no_grad():"] + ["    " + line for line in program.forward_lines[:-1]]


def regularised(program, rng):
    how = rng.choice(["decay", "decay", "clip", "dropout"])
    if how == "decay":
        strength = rng.choice([0.1, 1.0, 10.0]) if program.facts["optimizer"] != "AdamW" else rng.choice([30.0, 100.0])
        text = program.parts["optimizer"][0].replace(", weight_decay=0.01", "")
        program.put("optimizer", text[:-1] + f", weight_decay={strength})")
    elif how == "clip":
        program.put("clip", f"torch.nn.utils.clip_grad_norm_(MODEL.parameters(), {rng.choice([1e-3, 1e-4, 1e-5])})")
    else:
        program.facts["init"].append(f"self.heavy = nn.Dropout({rng.choice([0.9, 0.98])})")
        in_forward(program, "self.out(x)", "self.out(self.heavy(x))")


def too_few_steps(program, rng):
    set_rate(program, program.facts["lr"] * rng.choice([0.003, 0.01]))
    program.epochs = 1


FAULTS = (
    Fault("lr-too-high", ("lr-too-high",), rate_too_high, PLAIN, BY_EFFECT),
    Fault("lr-too-low", ("lr-too-low", "not-enough-steps"), rate_too_low, PLAIN, BY_EFFECT),
    Fault("lr-zero", ("lr-zero",), rate_zero, PLAIN),
    Fault("exploding-gradient", ("exploding-gradient", "bad-init-scale"), exploding,
          dict(kinds=("series",), cells=("RNN",), clip=False, **PLAIN), BY_EFFECT),
    Fault("no-optimizer-step", ("no-optimizer-step",), no_step, PLAIN),
    Fault("missing-backward", ("missing-backward",), no_backward, PLAIN),
    Fault("missing-zero-grad", ("missing-zero-grad",), no_zero, {**DESCENT, "optimizers": ("momentum",), "steps": 600}),
    Fault("frozen-params", ("frozen-params",), frozen, CLASSIFIERS),
    Fault("optimizer-wrong-params", ("optimizer-wrong-params",), wrong_parameters, {**NARROW, "activations": ("tanh",)}),
    Fault("frozen-or-detached", ("frozen-or-detached",), detached, NARROW),
    Fault("over-regularised", ("over-regularised",), regularised, {**MLP, "optimizers": ("SGD", "momentum", "AdamW")}, BY_EFFECT),
    Fault("not-enough-steps", ("not-enough-steps", "lr-too-low"), too_few_steps,
          dict(kinds=("images",), optimizers=("SGD", "momentum"), batches=(4, 8), epochs_min=1, **PLAIN), IF_IT_HURTS),
)
