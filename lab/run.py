#!/usr/bin/env python3
"""Runs the laboratory's grid under whystop and prints confusion matrix, precision, recall and false-alarm rate."""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from grid import LabRun, runs

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"


def verdict_of(run: LabRun) -> dict:
    """Runs one trainer in a folder of its own and returns whystop's verdict."""
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "r"
        subprocess.run([BUILD / "whystop", "run", "--quiet", "--dir", recording, "--", BUILD / "cpp_trainer", *run.arguments],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
        judged = subprocess.run([BUILD / "whystop", "why", "--json", recording], capture_output=True, check=False)
        return json.loads(judged.stdout)


def blamed_by(verdict: dict) -> str:
    for cause in verdict["causes"]:
        if cause["role"] == "root" and cause["fault"]:
            return cause["id"]
    return "-"


def named_by(verdict: dict) -> str:
    """The first root, a normal end included: some labels are normal ends (target-reached)."""
    for cause in verdict["causes"]:
        if cause["role"] == "root":
            return cause["id"]
    return "-"


def wilson(hits: int, count: int) -> tuple:
    """95 % interval of a share."""
    if count == 0:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def report(results: list) -> str:
    said = collections.defaultdict(collections.Counter)
    right = collections.Counter()
    for run, verdict in results:
        name = blamed_by(verdict) if run.family == "healthy" else named_by(verdict)
        said[run.family][name] += 1
        right[run.family] += name in run.accepted if run.accepted else name == "-"
    lines = ["| label | runs | right | said |", "| --- | --- | --- | --- |"]
    for family in sorted(said):
        count = sum(said[family].values())
        words = ", ".join(f"{name} {times}" for name, times in said[family].most_common())
        lines.append(f"| {family} | {count} | {right[family] / count:.0%} | {words} |")
    sick = [family for family in said if family != "healthy"]
    total = sum(sum(said[family].values()) for family in sick)
    hits = sum(right[family] for family in sick)
    healthy = sum(said["healthy"].values())
    alarms = healthy - right["healthy"]
    low, high = wilson(alarms, healthy)
    lines += ["", f"Sick runs: root cause right in {hits} of {total} ({hits / max(total, 1):.1%}).",
              f"Healthy runs: {alarms} of {healthy} blamed ({alarms / max(healthy, 1):.1%}, 95 % interval {low:.1%} to {high:.1%})."]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 seeds instead of 40")
    parser.add_argument("--seeds", type=int, help="how many seeds")
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    seeds = options.seeds or (4 if options.quick else 40)
    grid = list(runs(seeds, options.steps))
    results = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for run, verdict in zip(grid, pool.map(verdict_of, grid)):
            results.append((run, verdict))
            if sys.stderr.isatty() or len(results) % 100 == 0:
                print(f"{len(results)} of {len(grid)} runs", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
    print("## Reported seeds (odd)\n")
    print(report([one for one in results if one[0].seed % 2 == 1]))
    print("\n## Seeds for choosing thresholds (even)\n")
    print(report([one for one in results if one[0].seed % 2 == 0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
