"""The programs that this project began with, where they are at hand: outcome, learning and first root as their TRUTH.tsv says."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[2] / "shared" / "article-programs"

# Judged wrongly today, and said so. Shrink it, never grow it.
KNOWN_MISSES = set()


def rows():
    table = PROGRAMS / "TRUTH.tsv"
    if not table.exists():
        return []
    found = [line.split("\t") for line in table.read_text().splitlines()[1:] if line]
    # Keras ones have a suite of their own; a memory limit needs a control group, which tests/verdict/test_memory.py makes.
    return [row for row in found if "keras" not in row[0] and row[1] == "-"]


@pytest.mark.skipif(not rows(), reason="the programs are not at hand")
@pytest.mark.parametrize("row", [
    pytest.param(row, id=row[0].removesuffix(".py"),
                 marks=[pytest.mark.xfail(reason="a known miss", strict=False)] if row[0] in KNOWN_MISSES else [])
    for row in rows()
])
def test_article_program(ending, row):
    name, _, outcomes, learning, roots, never, _ = row
    # On one line with the program's first, so that its lines keep their numbers: it sets no seed, and not every one is as lucky.
    got = ending("import torch; torch.manual_seed(0); " + (PROGRAMS / name).read_text(), base=False)
    causes = got.verdict["causes"]
    blamed = [cause["id"] for cause in causes if cause["fault"] and cause["role"] == "root"]
    complaints = []
    if got.outcome not in outcomes.split("|"):
        complaints.append(f"outcome {got.outcome}, expected {outcomes}")
    if learning != "any" and got.verdict["learning"] not in learning.split("|"):
        complaints.append(f"learning {got.verdict['learning']}, expected {learning}")
    accepted = roots.split("|")
    if not (blamed[:1] and blamed[0] in accepted) and not (not blamed and "-" in accepted):
        complaints.append(f"blames {blamed}, expected {roots}")
    named = {cause["id"] for cause in causes if cause["role"] != "consequence"}
    complaints += [f"names {cause}" for cause in never.split("|") if cause in named]
    assert not complaints, f"{complaints}: {got.verdict['headline']} ({sys.version.split()[0]})"
