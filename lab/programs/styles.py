"""How people write a training loop: the same parts as a script, in functions, in a class, by steps, with batches made by hand."""

import textwrap

from programs.program import Program, block, name_parts

HEADER = "import math\nimport os\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed({seed})\n"
LOADER = ("from torch.utils.data import DataLoader, TensorDataset",
          "LOADER = DataLoader(TensorDataset(x, y), batch_size={batch}, {options})")
STEP = ("batch", "zero", "forward", "loss_line", "backward", "clip", "step", "after_step")


def _model(program: Program) -> str:
    facts = program.facts
    return ("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n" + block(facts["init"], 2) +
            f"\n\n    def forward(self, {facts['arguments']}):\n" + block(program.forward_lines, 2) + "\n")


def _setup(program: Program) -> str:
    parts = program.parts
    lines = parts["data"] + parts["spoil"]
    after = parts["model"] + parts["touch"] + parts["loss"] + parts["optimizer"] + parts["schedule"]
    return "\n".join(lines) + "\n\n\n" + _model(program) + "\n\n" + "\n".join(after)


def _step(program: Program, depth: int) -> str:
    lines = [line for place in STEP for line in program.parts[place]]
    if "guard" in program.facts:
        handler, then = program.facts["guard"]
        lines = ["try:", *("    " + line for line in lines), handler, "    " + then]
    return block(lines, depth)


def _epoch(program: Program, place: str, depth: int) -> str:
    return block(program.parts[place], depth)


def _loader(program: Program) -> str:
    return "\n".join(LOADER).format(batch=program.batch, options=program.loader_options)


def _script(program: Program) -> str:
    header = program.epochs_text or f"for epoch in range({program.epochs}):"
    return "\n".join([_setup(program), _loader(program), block(program.parts["before_loop"], 0), header, _epoch(program, "epoch_begin", 1),
                      "    for XB, YB in LOADER:", _step(program, 2), _epoch(program, "epoch_end", 1), block(program.parts["after_loop"], 0)])


def _functions(program: Program) -> str:
    header = program.epochs_text or f"for epoch in range({program.epochs}):"
    one = ["def train_epoch():", _epoch(program, "epoch_begin", 1), "    for XB, YB in LOADER:", _step(program, 2), _globals(program, 1), "    return LOSS"]
    main = ["def main():", "    " + header, "        LOSS = train_epoch()", block([line for line in program.parts["epoch_end"] if "total / parts" not in line], 2), "        pass"]
    return "\n".join([_setup(program), _loader(program), block(program.parts["before_loop"], 0), "", *one, "", "", *main, "", "",
                      "main()", block(program.parts["after_loop"], 0)])


def _globals(program: Program, depth: int) -> str:
    """The mean of an epoch is told where it was summed."""
    return block([line for line in program.parts["epoch_end"] if "total / parts" in line], depth).replace('"epoch", epoch, ', "")


def _trainer(program: Program) -> str:
    header = program.epochs_text.replace("for epoch in", "for self.epoch in") or f"while self.epoch < {program.epochs}:"
    parts = program.parts
    first = "\n".join(parts["data"] + parts["spoil"]) + "\n\n\n" + _model(program)
    setup = parts["model"] + parts["touch"] + parts["loss"] + parts["optimizer"] + parts["schedule"]
    loader = _loader(program).split("\n")
    owned = "\n".join(["class Trainer:", "    def __init__(self):", block(setup + loader[1:] + ["self.epoch = 0"], 2), "",
                       "    def fit(self):", "        epoch = 0", block(parts["before_loop"], 2), "        " + header, _epoch(program, "epoch_begin", 3),
                       "            for XB, YB in LOADER:", _step(program, 4), _epoch(program, "epoch_end", 3), "            self.epoch += 1",
                       "            epoch = self.epoch", "", "", "trainer = Trainer()", "trainer.fit()"])
    after = block(parts["after_loop"], 0)
    return first + "\n" + loader[0] + "\n\n\n" + name_parts(owned, program.names, "self.") + "\n" + after


def _by_steps(program: Program, batch: list) -> str:
    steps = program.epochs * -(-program.facts["count"] // program.batch)
    every = max(1, steps // program.epochs)
    epoch_end = [line for line in program.parts["epoch_end"]]
    inside = ["epoch = step // %d" % every, *epoch_end] if epoch_end else ["pass"]
    return "\n".join([_setup(program), block(program.parts["before_loop"], 0), _epoch(program, "epoch_begin", 0), "step = 0",
                      f"while step < {steps}:", block(batch, 1), _step(program, 1), "    step += 1", f"    if step % {every} == 0:", block(inside, 2),
                      block(program.parts["after_loop"], 0)])


def _steps(program: Program) -> str:
    return _by_steps(program, [f"rows = torch.randint(0, len(x), ({program.batch},))", "XB, YB = x[rows], y[rows]"])


def _cycle(program: Program) -> str:
    program.add("before_loop", *_loader(program).split("\n"), "stream = iter(LOADER)")
    return _by_steps(program, ["try:", "    XB, YB = next(stream)", "except StopIteration:", "    stream = iter(LOADER)", "    XB, YB = next(stream)"])


def _manual(program: Program) -> str:
    header = program.epochs_text or f"for epoch in range({program.epochs}):"
    order = "torch.randperm(len(x))" if "True" in program.loader_options else "torch.arange(len(x))"
    return "\n".join([_setup(program), block(program.parts["before_loop"], 0), header, _epoch(program, "epoch_begin", 1), f"    order = {order}",
                      f"    for start in range(0, len(x), {program.batch}):", f"        rows = order[start:start + {program.batch}]",
                      "        XB, YB = x[rows], y[rows]", _step(program, 2), _epoch(program, "epoch_end", 1), block(program.parts["after_loop"], 0)])


def _once(program: Program) -> str:
    program.add("before_loop", *_loader(program).split("\n"), "stream = iter(LOADER)")
    loop = ["try:", "    XB, YB = next(stream)", "except StopIteration:", "    break"] if program.seed % 3 else ["XB, YB = next(stream)"]
    return "\n".join([_setup(program), block(program.parts["before_loop"], 0), f"for step in range({program.facts['steps']}):", block(loop, 1),
                      _step(program, 1)])


_STYLES = {"cycle-once": _once, "script": _script, "functions": _functions, "trainer": _trainer, "steps": _steps, "manual": _manual, "cycle": _cycle}


def _score(program: Program, model: str) -> str:
    """What the laboratory itself asks at the end: how good is the model on its training data? Balanced accuracy, or R squared."""
    facts = program.facts
    target = "y_clean" if program.y_clean else "y"
    if facts["kind"] in ("regression", "reconstruct"):
        score, floor = f"1 - ((out - {target}) ** 2).mean() / {target}.var()", "0"
    else:
        choice = "(out.flatten() > 0).long()" if facts["binary"] else "out.argmax(-1)"
        score = f"sum((({choice} == k) & ({target} == k)).sum() / ({target} == k).sum() for k in {target}.unique()) / len({target}.unique())"
        floor = f"1 / len({target}.unique())"
    return textwrap.dedent(f"""
        if os.environ.get("LAB_SCORE"):
            model = {model}
            model.eval()
            with torch.no_grad():
                out = model(x)
                score = float({score})
            with open(os.environ["LAB_SCORE"], "w") as file:
                file.write(f"{{score}} {{{floor}}}")
        """)


def render(program: Program) -> str:
    """The program as a file that runs by itself."""
    if program.whole:
        return program.whole
    text = _STYLES[program.style](program)
    model = "trainer.MODEL" if program.style == "trainer" else "MODEL"
    score = "" if program.facts.get("no_score") else _score(program, model)
    text = HEADER.format(seed=program.seed) + text + "\n" + score
    text = name_parts(text, program.names)
    return "\n".join(line for line in text.split("\n") if line.strip() or line == "") + "\n"
