"""The labelled runs of the laboratory: what to start, and what may be said of it."""

import itertools
import random
from typing import Iterator, NamedTuple


class LabRun(NamedTuple):
    family: str        # "healthy", or the fault
    accepted: tuple    # Causes that may be named first; empty: none may be blamed
    arguments: tuple   # Of cpp_trainer
    seed: int


# Settings that learn, varied on purpose.
HEALTHY = [
    dict(task="classes", optimizer="adam", lr=0.003, batch=32),
    dict(task="classes", optimizer="adam", lr=0.0003, batch=16),
    dict(task="classes", optimizer="momentum", lr=0.02, batch=64),
    dict(task="classes", optimizer="sgd", lr=0.1, batch=4),
    dict(task="spiral", optimizer="adam", lr=0.01, batch=64, hidden=64, layers=3),
    dict(task="spiral", optimizer="adam", lr=0.003, batch=16, hidden=32, layers=2, activation="tanh"),
    dict(task="regression", optimizer="adam", lr=0.01, batch=32),
    dict(task="regression", optimizer="sgd", lr=0.01, batch=8),
    dict(task="regression", optimizer="momentum", lr=0.005, batch=32, activation="tanh"),
]

# Fault of cpp_trainer -> causes that may be named first. Two names where the physics does not tell them apart.
FAULTS = {
    "no-optimizer-step": ("no-optimizer-step",),
    "missing-zero-grad": ("missing-zero-grad",),
    "lr-zero": ("lr-zero",),
    "labels-random": ("labels-random", "labels-misaligned"),
    "unscaled-inputs": ("unscaled-inputs",),
    "unscaled-targets": ("unscaled-targets",),
    "nan-in-data": ("nan-in-data", "missing-values"),
    "invalid-math": ("invalid-math",),
    "dead-relu": ("dead-relu",),
    "saturation": ("saturation", "bad-init-scale"),
    "loss-spike": ("loss-spike",),
    "early-stop": ("early-stop-patience",),
    "target-reached": ("target-reached",),
    "leak": ("host-mem-leak",),
    "segfault": ("segfault",),
    "abort": ("native-abort",),
    "exception": ("native-abort",),
}
BASE = dict(task="classes", optimizer="adam", lr=0.003, batch=32)
BASE_OF = {
    "unscaled-targets": dict(task="regression", optimizer="sgd", lr=0.01, batch=32),
    "unscaled-inputs": dict(task="classes", optimizer="sgd", lr=0.05, batch=32),
    "missing-zero-grad": dict(task="classes", optimizer="sgd", lr=0.02, batch=32),
    "saturation": dict(task="classes", optimizer="sgd", lr=0.02, batch=32, activation="sigmoid"),
}


def flags(settings: dict) -> tuple:
    return tuple(itertools.chain.from_iterable((f"--{name}", str(value)) for name, value in settings.items()))


def runs(seeds: int, steps: int) -> Iterator[LabRun]:
    for seed in range(seeds):
        draw = random.Random(seed)
        for settings in HEALTHY:
            varied = {**settings, "steps": steps, "samples": draw.choice([1000, 2000, 4000]), "seed": seed}
            yield LabRun("healthy", (), flags(varied), seed)
        for fault, accepted in FAULTS.items():
            settings = {**BASE_OF.get(fault, BASE), "steps": steps, "seed": seed, "fault": fault}
            yield LabRun(fault, accepted, flags(settings), seed)
        hot = {**draw.choice([dict(task="classes"), dict(task="spiral"), dict(task="regression")]),
               "optimizer": "sgd", "lr": draw.choice([10, 30, 100]), "steps": steps, "seed": seed}
        yield LabRun("lr-too-high", ("lr-too-high", "exploding-gradient"), flags(hot), seed)
