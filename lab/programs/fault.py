"""What a fault is: how it changes a program, what may be said of it, and how its effect is judged."""

from typing import Callable, NamedTuple

# How a run is labelled by what it did, beside its healthy twin with the same seed (see truth.py).
BY_EFFECT = "effect"      # A setting of graded strength: sick when it hurts, healthy when it does not.
IF_IT_HURTS = "hurts"     # A mistake in the program: sick when it has not learned, left out when it has.
ALWAYS = "always"         # A way to end, or a mistake that shows elsewhere than in the score.


class Fault(NamedTuple):
    label: str
    accepted: tuple          # Causes that may be named first
    change: Callable         # (program, rng) -> None
    want: dict = {}          # Limits of the sound program that it is put into
    judged: str = IF_IT_HURTS
    question: str = "learning"  # Which answer of the verdict is looked at: learning, or stop


CLASSES = dict(kinds=("classes",))
CLASSIFIERS = dict(kinds=("classes", "classes", "images", "tokens", "series"))
DESCENT = dict(kinds=("classes", "classes", "images"), optimizers=("SGD", "momentum"))
MLP = dict(kinds=("classes", "classes", "regression"), models=("mlp",), norm=False)
RELU = dict(kinds=("classes", "classes", "regression"), models=("mlp",), activations=("relu",), norm=False)
REGRESSION = dict(kinds=("regression",), models=("mlp",))
EPOCH_STYLES = dict(styles=("script", "trainer", "manual"))


def set_rate(program, lr: float) -> None:
    old = program.facts["lr"]
    program.replace("optimizer", f"lr={old}", f"lr={lr:g}")
    if program.facts["schedule"] == "onecycle":
        program.replace("schedule", f"max_lr={2 * old}", f"max_lr={lr:g}")
    program.facts["lr"] = lr


def after_model(program, *lines: str) -> None:
    program.add("touch", *lines)


def in_forward(program, old: str, new: str) -> None:
    text = "\n".join(program.forward_lines)
    if old not in text:
        raise ValueError(f"forward does not hold {old!r}:\n{text}")
    program.forward_lines[:] = text.replace(old, new, 1).split("\n")
