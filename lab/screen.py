#!/usr/bin/env python3
"""Runs programs of the laboratory without whystop, quickly: torch is loaded once, and each program is a fork of this process.

Reads paths of programs from standard input and writes what each one scored beside it, as NAME.screened: empty where it did not get so far.
"""

import os
import pathlib
import runpy
import signal
import sys

import torch
import torch._dynamo  # The first optimizer would load it in every fork.

AT_ONCE = int(os.environ.get("LAB_AT_ONCE", 2))
SECONDS_MAX = 120


def run(program: pathlib.Path, score: pathlib.Path) -> None:
    """Never returns."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    signal.alarm(SECONDS_MAX)
    os.environ["LAB_SCORE"] = str(score)
    sys.argv = [str(program)]
    try:
        runpy.run_path(str(program), run_name="__main__")
    finally:
        os._exit(0)


def main() -> int:
    torch.set_num_threads(1)
    running = {}
    for line in sys.stdin:
        program = pathlib.Path(line.strip())
        while len(running) >= AT_ONCE:
            finish(running)
        score = program.with_suffix(".scoring")
        child = os.fork()
        if child == 0:
            run(program, score)
        running[child] = score
    while running:
        finish(running)
    return 0


def finish(running: dict) -> None:
    score = running.pop(os.wait()[0])
    score.touch()
    score.rename(score.with_suffix(".screened"))


if __name__ == "__main__":
    sys.exit(main())
