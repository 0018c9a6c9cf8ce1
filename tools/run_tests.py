#!/usr/bin/env python3
"""Runs every test: the C++ suite plain and under the sanitizers, then the Python suites. Ends with the count.

`--all` adds the soaks: hundreds of kills, long fuzzing, the whole overhead check.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAYERS_WITH_THREADS = ("client", "record", "sense", "supervise", "wire")


class Count(NamedTuple):
    passed: int
    failed: int
    skipped: int


def run(command: list, **options) -> "tuple[int, str]":
    """Runs a command, showing its output as it comes, and returns its status and output."""
    print("+ " + " ".join(map(str, command)), flush=True)
    lines = []
    with subprocess.Popen(
        list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", **options
    ) as process:
        for line in process.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    return process.returncode, "".join(lines)


def number_before(word: str, text: str) -> int:
    found = re.findall(rf"(\d+) {word}", text)
    return int(found[-1]) if found else 0


def cpp_suite(preset: str, folder: str, layers: tuple = ()) -> Count:
    """Builds a preset and runs its unit tests; `layers` limits it to those folders of src/."""
    status, _ = run(["cmake", "--preset", preset])
    if status == 0:
        status, _ = run(["ninja", "-C", folder, *(f"{layer}_test" for layer in layers)])
    if status != 0:
        return Count(0, 1, 0)
    only = ["-R", "^(" + "|".join(layers) + r")\."] if layers else []
    command = ["ctest", "--test-dir", folder, "--output-on-failure", "--progress", "-j", "2", "--timeout", "300"]
    status, text = run(command + only)
    summary = re.search(r"(\d+) tests failed out of (\d+)", text)
    failed, total = (int(summary.group(1)), int(summary.group(2))) if summary else (1, 1)
    if status != 0 and failed == 0:
        failed = 1
    return Count(total - failed, failed, 0)


def python_suites(everything: bool, build: str = "build", folders: tuple = ()) -> Count:
    """One pytest for each folder of tests/, so that their helpers do not meet."""
    environment = {**os.environ, "WHYSTOP_BUILD": str(ROOT / build), "WHYSTOP_KILLS": "200" if everything else "20"}
    if everything:
        environment["WHYSTOP_ALL"] = "1"
    counts = [Count(0, 0, 0)]
    for folder in sorted({path.parent for path in ROOT.glob("tests/*/test_*.py")}):
        if folders and folder.name not in folders:
            continue
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder.relative_to(ROOT)]
        status, text = run(command, env=environment)
        tail = "\n".join(text.splitlines()[-3:])
        failed = number_before("failed", tail) + number_before("errors?", tail)
        counts.append(Count(number_before("passed", tail), failed or int(status != 0), number_before("skipped", tail)))
    return Count(*map(sum, zip(*counts)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also run the soaks")
    options = parser.parse_args()
    # A shell's background or nohup ignores these for us; jobs under test must be able to die of them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    counts = [
        cpp_suite("release", "build"),
        python_suites(options.all),
        cpp_suite("asan", "build-asan"),
        python_suites(options.all, "build-asan", ("verdict",)),
        cpp_suite("tsan", "build-tsan", LAYERS_WITH_THREADS),
    ]
    total = Count(*map(sum, zip(*counts)))
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
