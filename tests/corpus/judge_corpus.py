#!/usr/bin/env python3
"""Judges every file of the shared corpus of real logs and metric files, and prints a table.

Each file is copied under a neutral name first, so that its name cannot help. Usage:
    tests/corpus/judge_corpus.py [--binary build/whystop] [--misses]
"""

import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
# Ends as configured: the verdict may name them, and nobody is blamed.
NO_FAULT_PREFIX = "finished-"


class Judged(NamedTuple):
    file: str
    outcome: str
    learning: str
    root: str
    outcome_right: bool
    learning_right: bool
    cause_right: bool
    forbidden: str
    accepted: dict


def verdict_of(binary: pathlib.Path, path: pathlib.Path) -> Optional[dict]:
    done = subprocess.run([str(binary), "why", "--json", str(path)], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1, 3):
        print(f"{path.name}: exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
        return None
    decoder, text, last = json.JSONDecoder(), done.stdout, None
    while text.strip():  # Several runs: the newest is last.
        last, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
    return last


def roots_of(verdict: dict) -> list:
    return [
        cause["id"]
        for cause in verdict["causes"]
        if cause["role"] == "root" and cause["fault"] and not cause["id"].startswith(NO_FAULT_PREFIX)
    ]


def judge(binary: pathlib.Path, row: dict, neutral: pathlib.Path) -> Judged:
    shutil.copy(CORPUS / row["file"], neutral)
    neutral.chmod(0o600)
    verdict = verdict_of(binary, neutral) or {"outcome": "error", "learning": "error", "causes": []}
    neutral.unlink()
    accepted = {
        key: row[f"accepted_{key}"].split("|") for key in ("outcomes", "learning", "root_causes")
    }
    roots = roots_of(verdict)
    root = roots[0] if roots else "-"
    must_not = set(row["must_not"].split("|"))
    said = {verdict["outcome"], verdict["learning"], *roots}
    return Judged(
        file=row["file"],
        outcome=verdict["outcome"],
        learning=verdict["learning"],
        root=root,
        outcome_right="any" in accepted["outcomes"] or verdict["outcome"] in accepted["outcomes"],
        learning_right="any" in accepted["learning"] or verdict["learning"] in accepted["learning"],
        cause_right="any" in accepted["root_causes"] or root in accepted["root_causes"],
        forbidden=" ".join(sorted(said & must_not)),
        accepted=accepted,
    )


def judge_all(binary: pathlib.Path) -> list:
    with (CORPUS / "MANIFEST.tsv").open(encoding="utf-8", newline="") as manifest:
        rows = list(csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE))
    with tempfile.TemporaryDirectory() as folder:
        return [judge(binary, row, pathlib.Path(folder) / f"artefact-{i}") for i, row in enumerate(rows)]


def shares(results: list) -> dict:
    count = len(results)
    return {
        "files": count,
        "outcome": sum(one.outcome_right for one in results) / count,
        "learning": sum(one.learning_right for one in results) / count,
        "cause": sum(one.cause_right for one in results) / count,
        "forbidden": sum(bool(one.forbidden) for one in results),
    }


def cell(said: str, right: bool, accepted: list) -> str:
    return said if right else f"**{said}** (want {' or '.join(accepted)})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "whystop")
    parser.add_argument("--misses", action="store_true", help="only the files that were judged wrong")
    options = parser.parse_args()
    if not CORPUS.exists():
        print("skipped: the shared corpus is not here", file=sys.stderr)
        return 0
    results = judge_all(options.binary)
    print("| file | outcome | learning | root cause | said what it must not |")
    print("| --- | --- | --- | --- | --- |")
    for one in results:
        right = one.outcome_right and one.learning_right and one.cause_right and not one.forbidden
        if options.misses and right:
            continue
        print(
            f"| {one.file} | {cell(one.outcome, one.outcome_right, one.accepted['outcomes'])} "
            f"| {cell(one.learning, one.learning_right, one.accepted['learning'])} "
            f"| {cell(one.root, one.cause_right, one.accepted['root_causes'])} | {one.forbidden} |"
        )
    print()
    print(", ".join(f"{key} {value:.3g}" for key, value in shares(results).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
