"""The labelled runs of the C++ trainer: what to start, and what may be said of it."""

import itertools
import random
from typing import Iterator, NamedTuple


class LabRun(NamedTuple):
    label: str         # "healthy", or the fault
    family: str
    accepted: tuple    # Causes that may be named first; empty: none may be blamed
    question: str
    arguments: tuple   # Of cpp_trainer
    seed: int


# Settings that learn, varied on purpose.
HEALTHY = {
    "adam": dict(task="classes", optimizer="adam", lr=0.003, batch=32),
    "adam, low rate": dict(task="classes", optimizer="adam", lr=0.0003, batch=16),
    "momentum": dict(task="classes", optimizer="momentum", lr=0.02, batch=64),
    "descent, batches of 4": dict(task="classes", optimizer="sgd", lr=0.1, batch=4),
    "spiral": dict(task="spiral", optimizer="adam", lr=0.01, batch=64, hidden=64, layers=3),
    "spiral, tanh": dict(task="spiral", optimizer="adam", lr=0.003, batch=16, hidden=32, layers=2, activation="tanh"),
    "regression": dict(task="regression", optimizer="adam", lr=0.01, batch=32),
    "regression, descent": dict(task="regression", optimizer="sgd", lr=0.01, batch=8),
    "regression, tanh": dict(task="regression", optimizer="momentum", lr=0.005, batch=32, activation="tanh"),
}

CLASSES = dict(task="classes", optimizer="adam", lr=0.003, batch=32)
DESCENT = dict(task="classes", optimizer="sgd", lr=0.05, batch=32)
VALUES = dict(task="regression", optimizer="sgd", lr=0.01, batch=32)
STOP, LEARNING = "stop", "learning"
# Label: the trainer's fault, settings, causes that may be named first, and which answer counts. Two causes where the physics does not tell
# them apart. Two of the trainer's faults are not asked for: a leak needs a minute of samples to be told from a cache that fills, and the rare
# classes of its data are so easy that imbalance does no harm.
FAULTS = {
    "no-optimizer-step": ("no-optimizer-step", CLASSES, ("no-optimizer-step",), LEARNING),
    "missing-zero-grad": ("missing-zero-grad", {**DESCENT, "lr": 0.1}, ("missing-zero-grad",), LEARNING),
    "lr-zero": ("lr-zero", CLASSES, ("lr-zero",), LEARNING),
    "lr-too-low": ("none", {**DESCENT, "lr": 1e-7}, ("lr-too-low",), LEARNING),
    "labels-random": ("labels-random", {**CLASSES, "samples": 8000, "hidden": 16, "layers": 1, "steps": 800}, ("labels-random", "labels-misaligned"), LEARNING),
    "unscaled-inputs": ("unscaled-inputs", DESCENT, ("unscaled-inputs",), LEARNING),
    "unscaled-targets": ("unscaled-targets", VALUES, ("unscaled-targets",), LEARNING),
    "nan-in-data": ("nan-in-data", CLASSES, ("nan-in-data", "missing-values"), LEARNING),
    "invalid-math": ("invalid-math", CLASSES, ("invalid-math",), LEARNING),
    "double-softmax": ("double-softmax", CLASSES, ("double-softmax",), LEARNING),
    "dead-relu": ("dead-relu", CLASSES, ("dead-relu",), LEARNING),
    "saturation": ("saturation", {**DESCENT, "lr": 0.02, "activation": "sigmoid"}, ("saturation", "bad-init-scale"), LEARNING),
    "early-stop-patience": ("early-stop", {**CLASSES, "batch": 8, "lr": 0.01, "steps": 4000}, ("early-stop-patience",), STOP),
    "target-reached": ("target-reached", {**CLASSES, "target": 0.3}, ("target-reached",), STOP),
    "segfault": ("segfault", CLASSES, ("segfault",), STOP),
    "native-abort": ("abort", CLASSES, ("native-abort",), STOP),
    "uncaught-exception": ("exception", CLASSES, ("native-abort",), STOP),
}


def flags(settings: dict) -> tuple:
    return tuple(itertools.chain.from_iterable((f"--{name}", str(value)) for name, value in settings.items()))


def runs(seeds: range, steps: int) -> Iterator[LabRun]:
    for seed in seeds:
        draw = random.Random(seed)
        for family, settings in HEALTHY.items():
            varied = {**settings, "steps": steps, "samples": draw.choice([1000, 2000, 4000]), "seed": seed}
            yield LabRun("healthy", family, (), LEARNING, flags(varied), seed)
        for label, (fault, settings, accepted, question) in FAULTS.items():
            yield LabRun(label, label, accepted, question, flags({"steps": steps, **settings, "seed": seed, "fault": fault}), seed)
        hot = {**draw.choice([dict(task="classes"), dict(task="spiral"), dict(task="regression")]), "optimizer": draw.choice(["sgd", "momentum"]),
               "lr": draw.choice([10, 30, 100]), "steps": steps, "seed": seed}
        yield LabRun("lr-too-high", "lr-too-high", ("lr-too-high",), LEARNING, flags(hot), seed)
