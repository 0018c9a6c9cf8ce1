"""Draws a sound program: task, model, loss, optimizer, schedule, style of loop, habits of logging."""

import math
import random

from programs.models import MODELS_OF
from programs.program import NAMES, Program
from programs.tasks import draw_task

KINDS = ("classes",) * 5 + ("regression", "regression", "images", "tokens", "language", "series", "reconstruct")
STYLES = ("script", "functions", "trainer", "steps", "manual", "cycle")
SAMPLES = {"digits": 1438, "iris": 120, "wine": 143, "breast_cancer": 456, "diabetes": 354}
# Rates that work for a network of that kind.
RATES = {
    "SGD": {"mlp": (0.05, 0.1, 0.2), "linear": (0.05, 0.1), "cnn": (0.02, 0.05)},
    "momentum": {"mlp": (0.01, 0.02, 0.05), "linear": (0.01, 0.03), "cnn": (0.005, 0.01, 0.02)},
    "Adam": {"mlp": (1e-3, 3e-3), "linear": (3e-3, 1e-2), "cnn": (1e-3, 3e-3), "recurrent": (3e-3, 5e-3), "transformer": (1e-3, 2e-3),
             "autoencoder": (1e-3, 3e-3)},
}
RATES["AdamW"], RATES["RMSprop"] = RATES["Adam"], {**RATES["Adam"], "transformer": (5e-4,), "linear": (3e-3,)}
OPTIMIZERS = {
    "SGD": "torch.optim.SGD(MODEL.parameters(), lr={lr})", "momentum": "torch.optim.SGD(MODEL.parameters(), lr={lr}, momentum=0.9)",
    "Adam": "torch.optim.Adam(MODEL.parameters(), lr={lr})", "AdamW": "torch.optim.AdamW(MODEL.parameters(), lr={lr}, weight_decay=0.01)",
    "RMSprop": "torch.optim.RMSprop(MODEL.parameters(), lr={lr})",
}


def count_of(data: list, facts: dict) -> int:
    """Training samples."""
    real = (size for name, size in SAMPLES.items() if any(f'"{name}.npz"' in line for line in data))
    made = {"regression": 960, "classes": 1200, "images": 800, "tokens": 800, "language": 560, "series": 720}
    return next(real, made.get(facts["kind"], 900))


def draw_base(key: str, seed: int, want: dict) -> Program:
    """The program of this key and seed; `want` limits what is drawn: kinds, models, activations, optimizers, styles, norm, validate."""
    rng = random.Random(f"{key}/{seed}")
    data, facts = draw_task(rng, want.get("kinds", KINDS))
    while count_of(data, facts) < want.get("samples_min", 0):
        data, facts = draw_task(rng, want.get("kinds", KINDS))
    family = rng.choice([name for name in MODELS_OF[facts["kind"]] if name in want.get("models", (name,))])
    facts.update(model=family, activation=rng.choice(want.get("activations", ("relu", "relu", "tanh", "gelu"))),
                 depth=rng.choice(want.get("depths", (1, 2, 3))), width=rng.choice(want.get("widths", (32, 64))),
                 cell=rng.choice(want.get("cells", ("GRU", "LSTM"))), norm=want.get("norm", family == "cnn" or (family == "mlp" and rng.random() < 0.2)),
                 dropout=want.get("dropout", rng.choice([0, 0, 0.1])), outputs=facts["classes"])
    facts["binary"] = facts["kind"] == "classes" and facts["classes"] == 2 and rng.random() < want.get("binary", 0.6)
    if facts["binary"]:
        facts["outputs"] = 1
    optimizer = rng.choice([name for name in want.get("optimizers", ("SGD", "momentum", "Adam", "Adam", "AdamW", "RMSprop"))
                            if family in RATES[name]] or ["Adam"])
    facts.update(optimizer=optimizer, lr=rng.choice(RATES[optimizer][family]))
    batch = rng.choice(want.get("batches", (16, 32, 64)))
    count = count_of(data, facts)
    facts["count"] = count
    per_epoch = math.ceil(count / batch)
    epochs = max(want.get("epochs_min", 4), round(want.get("steps", rng.choice([300, 400, 600])) / per_epoch))
    program = Program(seed, rng.choice(want.get("styles", STYLES)), rng.choice(NAMES), epochs, batch, facts)
    program.put("data", *data)
    init, program.forward_lines, facts["arguments"] = MODELS_OF[facts["kind"]][family](rng, facts)
    facts["init"] = init
    program.put("model", "MODEL = Net()")
    _loss(rng, program, want)
    program.put("optimizer", "OPT = " + OPTIMIZERS[optimizer].format(lr=facts["lr"]))
    program.put("zero", "OPT.zero_grad()")
    program.put("forward", "OUT = MODEL(XB)")
    program.put("backward", "LOSS.backward()")
    program.put("step", "OPT.step()")
    if family == "recurrent" and want.get("clip", True):
        program.put("clip", "torch.nn.utils.clip_grad_norm_(MODEL.parameters(), 1.0)")
    _schedule(rng, program, want.get("schedules", ("none", "none", "none", "cosine", "step", "warmup", "onecycle", "plateau")))
    _logging(rng, program, want)
    return program


def _loss(rng, program: Program, want: dict) -> None:
    kind = program.facts["kind"]
    if kind in ("regression", "reconstruct"):
        name = rng.choice(want.get("regression_losses", ("MSELoss", "MSELoss", "SmoothL1Loss", "L1Loss")))
        program.put("loss", f"CRIT = nn.{name}()")
        program.put("loss_line", "LOSS = CRIT(OUT, YB)")
    elif program.facts["binary"]:
        program.put("loss", "CRIT = nn.BCEWithLogitsLoss()")
        program.put("loss_line", "LOSS = CRIT(OUT.squeeze(1), YB.float())")
    else:
        smoothing = rng.choice(want.get("smoothings", ("", "", "", "label_smoothing=0.1")))
        program.put("loss", f"CRIT = nn.CrossEntropyLoss({smoothing})")
        flat = "OUT.flatten(0, 1), YB.flatten()" if kind == "language" else "OUT, YB"
        program.put("loss_line", f"LOSS = CRIT({flat})")
        if rng.random() < 0.3 and not smoothing:
            program.put("loss")
            program.put("loss_line", f"LOSS = F.cross_entropy({flat})")


def _schedule(rng, program: Program, choices: tuple) -> None:
    choice = rng.choice(choices)
    steps = program.epochs * math.ceil(program.facts["count"] / program.batch)
    lr = program.facts["lr"]
    program.facts["schedule"] = choice
    if choice == "cosine":
        program.put("schedule", f"SCHED = torch.optim.lr_scheduler.CosineAnnealingLR(OPT, T_max={program.epochs})")
        program.add("epoch_end", "SCHED.step()")
    elif choice == "step":
        program.put("schedule", f"SCHED = torch.optim.lr_scheduler.StepLR(OPT, step_size={max(1, program.epochs // 3)}, gamma=0.3)")
        program.add("epoch_end", "SCHED.step()")
    elif choice == "warmup":
        program.put("schedule", f"SCHED = torch.optim.lr_scheduler.LambdaLR(OPT, lambda n: min(1.0, (n + 1) / {steps // 10}))")
        program.add("after_step", "SCHED.step()")
    elif choice == "onecycle":
        program.put("schedule", f"SCHED = torch.optim.lr_scheduler.OneCycleLR(OPT, max_lr={2 * lr}, total_steps={steps + program.epochs + 2})")
        program.add("after_step", "SCHED.step()")
    elif choice == "plateau":
        program.put("schedule", "SCHED = torch.optim.lr_scheduler.ReduceLROnPlateau(OPT, patience=3)")
        program.add("epoch_end", "SCHED.step(LOSS.item())")


def validate_lines(program: Program) -> list:
    """A look at the held-out data, as programs do it at the end of an epoch; sets val_loss."""
    loss = "\n".join(program.parts["loss_line"]).replace("LOSS = ", "val_loss = ").replace("OUT", "MODEL(xv)").replace("YB", "yv")
    return ["MODEL.eval()", "with torch.no_grad():", *("    " + line for line in (loss + ".item()").split("\n")), "MODEL.train()"]


def _logging(rng, program: Program, want: dict) -> None:
    validates = want.get("validate", rng.random() < 0.5)
    if validates:
        program.add("epoch_end", *validate_lines(program))
    habit = rng.choice(want.get("logs", ("silent", "epoch", "epoch", "steps", "logging", "mean")))
    program.facts["log"] = habit
    tail = ' val_loss {val_loss:.4f}' if validates else ""
    if habit == "epoch":
        program.add("epoch_end", 'print(f"epoch {epoch} loss {LOSS.item():.4f}' + tail + '")')
    elif habit == "logging":
        program.first("before_loop", "import logging", "logging.basicConfig(level=logging.INFO)")
        program.add("epoch_end", 'logging.info("epoch %d loss %.4f", epoch, LOSS.item())')
    elif habit == "steps":
        program.first("before_loop", "seen = 0")
        program.first("epoch_begin", *(["global seen"] if program.style == "functions" else []))
        program.add("after_step", "seen += 1", "if seen % 20 == 0:", '    print(f"step {seen}: loss={LOSS.item():.5f}")')
    elif habit == "mean":
        program.add("epoch_begin", "total, parts = 0.0, 0")
        program.add("after_step", "total, parts = total + LOSS.item(), parts + 1")
        program.add("epoch_end", 'print("epoch", epoch, "mean loss", round(total / parts, 4))')
