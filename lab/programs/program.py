"""A training program in parts, and its text.

A part is a list of lines in which words in capitals stand for names that differ from program to program: MODEL, OPT, CRIT,
SCHED, LOADER, XB, YB, OUT, LOSS. What a fault does to a program is to change its parts.
"""

import dataclasses
import hashlib
import re
import textwrap
from typing import Dict, List

NAMES = [
    dict(MODEL="model", OPT="optimizer", CRIT="criterion", SCHED="scheduler", LOADER="train_loader", XB="inputs", YB="targets",
         OUT="outputs", LOSS="loss"),
    dict(MODEL="net", OPT="opt", CRIT="loss_fn", SCHED="sched", LOADER="loader", XB="xb", YB="yb", OUT="pred", LOSS="loss"),
    dict(MODEL="network", OPT="optim", CRIT="objective", SCHED="lr_schedule", LOADER="batches", XB="features", YB="labels",
         OUT="logits", LOSS="batch_loss"),
]
PLACES = ("data", "spoil", "model", "touch", "loss", "optimizer", "schedule", "before_loop", "epoch_begin", "batch", "zero", "forward",
          "loss_line", "backward", "clip", "step", "after_step", "epoch_end", "after_loop")


@dataclasses.dataclass
class Program:
    """One program; `facts` say what faults need to know of it (task, model, optimizer, lr, activation)."""
    seed: int
    style: str
    names: Dict[str, str]
    epochs: int
    batch: int
    facts: dict
    parts: Dict[str, List[str]] = dataclasses.field(default_factory=lambda: {place: [] for place in PLACES})
    forward_lines: List[str] = dataclasses.field(default_factory=list)  # Of the model's forward, for faults inside it.
    loader_options: str = "shuffle=True"
    epochs_text: str = ""          # The header of the epoch loop, if it is not range(epochs).
    whole: str = ""                # A program that is not made of parts.
    y_clean: bool = False          # `y_clean` holds the labels before they were spoilt.

    def put(self, place: str, *lines: str) -> None:
        self.parts[place] = list(lines)

    def add(self, place: str, *lines: str) -> None:
        self.parts[place] = self.parts[place] + list(lines)

    def first(self, place: str, *lines: str) -> None:
        self.parts[place] = list(lines) + self.parts[place]

    def replace(self, place: str, old: str, new: str) -> None:
        before = "\n".join(self.parts[place])
        if old not in before:
            raise ValueError(f"{place} does not hold {old!r}:\n{before}")
        self.parts[place] = before.replace(old, new).split("\n")


def name_parts(text: str, names: Dict[str, str], owner: str = "") -> str:
    """Puts the program's own names in; `owner` ("self.") goes before the long-lived ones."""
    for word, name in names.items():
        prefix = owner if word in ("MODEL", "OPT", "CRIT", "SCHED", "LOADER") else ""
        text = re.sub(rf"\b{word}\b", prefix + name, text)
    return text


def block(lines: List[str], depth: int) -> str:
    return textwrap.indent("\n".join(lines), "    " * depth)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
