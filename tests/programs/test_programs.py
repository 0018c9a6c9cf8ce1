"""Real PyTorch programs under the real binary: outcome, learning and the first root as the manifest expects.

WHYSTOP_ALL=1 runs them all; without it every second one. WHYSTOP_PYTHON names an interpreter that has torch and scikit-learn.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", HERE.parents[1] / "build")).resolve()
WHYSTOP = BUILD / "whystop"
PYTHON = os.environ.get("WHYSTOP_PYTHON", sys.executable)
TIMEOUT = 180  # Seconds after which something hangs; no test depends on how long anything takes.
NOT_BLAMING = {"finished-epochs", "finished-max-steps", "finished-early-by-design", "finished-nothing-to-do", "target-reached",
               "compile-or-warmup", "shutdown-noise"}


def read_manifest() -> list:
    rows = []
    for line in (HERE / "manifest.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, *fields = line.split("\t")
            outcome, learning, roots, never, miss = (fields + [""] * 5)[:5]
            rows.append((name, *(set(field.split("|")) for field in (outcome, learning, roots, never)), miss))
    return rows


def selected() -> list:
    rows = read_manifest() if os.environ.get("WHYSTOP_ALL") == "1" else read_manifest()[::2]
    return [pytest.param(*row[:5], id=row[0], marks=[pytest.mark.xfail(reason=row[5], strict=False)] if row[5] else []) for row in rows]


def judge(name: str, folder: pathlib.Path) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([WHYSTOP, "run", "--dir", folder, "--", PYTHON, HERE / f"{name}.py"], capture_output=True, timeout=TIMEOUT,
                   stdin=subprocess.DEVNULL, check=False, env=environment)
    why = subprocess.run([WHYSTOP, "why", "--json", folder], capture_output=True, timeout=TIMEOUT, check=False)
    assert why.returncode in (0, 1, 3), why.stderr.decode()
    return json.loads(why.stdout)


def complaints(verdict: dict, outcomes: set, learning: set, roots: set, never: set) -> list:
    causes = verdict["causes"]
    blamed = [cause["id"] for cause in causes if cause["id"] not in NOT_BLAMING]
    first = next((cause["id"] for cause in causes if cause["role"] == "root"), "-")
    found = []
    if verdict["outcome"] not in outcomes:
        found.append(f"outcome {verdict['outcome']}, expected {sorted(outcomes)}")
    if "*" not in learning and verdict["learning"] not in learning:
        found.append(f"learning {verdict['learning']}, expected {sorted(learning)}")
    if roots == {"-"} and blamed:
        found.append(f"blames {blamed} in a healthy run")
    elif roots != {"-"} and first not in roots and not ("-" in roots and not blamed):
        found.append(f"first root {first}, expected {sorted(roots)}")
    wrong = never & {cause["id"] for cause in causes}
    if wrong:
        found.append(f"names {sorted(wrong)}")
    return found


def test_manifest_lists_every_program():
    assert sorted(row[0] for row in read_manifest()) == sorted(path.stem for path in HERE.glob("p[0-9]*.py"))


@pytest.mark.parametrize(("name", "outcomes", "learning", "roots", "never"), selected())
def test_program(name, outcomes, learning, roots, never, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    verdict = judge(name, tmp_path / "recording")
    found = complaints(verdict, outcomes, learning, roots, never)
    assert not found, f"{found}: {verdict['headline']}"
