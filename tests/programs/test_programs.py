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

# Every cause that the learning side promises. A real program must reach each of them.
CAUSES = """
loss-nan exploding-gradient lr-too-high fp16-overflow fp16-underflow loss-scale-floor invalid-math masked-softmax-nan all-labels-ignored
nan-in-data unscaled-targets loss-spike nan-hidden-by-logger
no-optimizer-step missing-backward missing-zero-grad frozen-params optimizer-wrong-params frozen-or-detached lr-zero lr-too-low
scheduler-order symmetric-init bad-init-scale dead-relu saturation double-softmax wrong-loss-activation target-broadcast eval-mode-left-on
bn-small-batch batchnorm-single-sample over-regularised capacity-too-small not-enough-steps constant-prediction metric-misread overfitting
labels-random labels-misaligned class-imbalance unscaled-inputs categorical-as-integer missing-values order-not-shuffled empty-dataset
early-stop-patience early-stop-nonfinite stop-on-nan stop-flag-callback callback-exception data-ran-out iterable-exhausted
swallowed-exception premature-return resume-already-complete target-reached finished-epochs finished-max-steps
cuda-oom cuda-oom-fragmentation gpu-shared-with-other-process gpu-oom-at-eval gpu-leak-retained-graph host-mem-leak
"""
# Reached by no program yet; shrink it, never grow it.
NOT_REACHED = """
host-mem-leak
"""


def read_manifest() -> list:
    rows = []
    for line in (HERE / "manifest.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, *fields = line.split("\t")
            outcome, learning, roots, never, miss, also = (fields + [""] * 6)[:6]
            rows.append((name, *(set(field.split("|")) - {""} for field in (outcome, learning, roots, never, also)), miss))
    return rows


def selected() -> list:
    rows = read_manifest() if os.environ.get("WHYSTOP_ALL") == "1" else read_manifest()[::2]
    return [pytest.param(*row[:6], id=row[0], marks=[pytest.mark.xfail(reason=row[6], strict=False)] if row[6] else []) for row in rows]


def judge(name: str, folder: pathlib.Path) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([WHYSTOP, "run", "--dir", folder, "--", PYTHON, HERE / f"{name}.py"], capture_output=True, timeout=TIMEOUT,
                   stdin=subprocess.DEVNULL, check=False, env=environment)
    why = subprocess.run([WHYSTOP, "why", "--json", folder], capture_output=True, timeout=TIMEOUT, check=False)
    assert why.returncode in (0, 1, 3), why.stderr.decode()
    return json.loads(why.stdout)


def complaints(verdict: dict, outcomes: set, learning: set, roots: set, never: set, also: set) -> list:
    causes = verdict["causes"]
    blamed = [cause["id"] for cause in causes if cause["id"] not in NOT_BLAMING]
    # What explains neither question (a leak that killed nobody) heads the list only where no root is to blame.
    roots_found = [cause["id"] for cause in causes if cause["role"] == "root"]
    first = next((cause for cause in roots_found if cause in blamed), next(iter(blamed + roots_found), "-"))
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
    silent = also - {cause["id"] for cause in causes}
    if silent:
        found.append(f"does not name {sorted(silent)}")
    return found


def test_manifest_lists_every_program():
    assert sorted(row[0] for row in read_manifest()) == sorted(path.stem for path in HERE.glob("p[0-9]*.py"))


def test_every_cause_is_reached_by_a_program():
    """By one that is not a known miss, as the first root (perhaps one of several that cannot be told apart) or named beside it."""
    reached = set()
    for _, _, _, roots, _, also, miss in read_manifest():
        reached |= set() if miss else roots | also
    assert set(CAUSES.split()) - reached == set(NOT_REACHED.split())


def test_every_cause_has_a_page_and_cases():
    folder = HERE.parents[1] / "src" / "cause"
    bare = []
    for cause in CAUSES.split():
        cases = [path.read_text() for path in (folder / cause / "cases").glob("*.case")]
        fires = any(f"expect {cause}" in case for case in cases)
        quiet = any("expect no-fault" in case for case in cases)
        if not (folder / cause / f"{cause}.md").exists() or not fires or not quiet:
            bare.append(cause)
    assert bare == []


@pytest.mark.parametrize(("name", "outcomes", "learning", "roots", "never", "also"), selected())
def test_program(name, outcomes, learning, roots, never, also, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    verdict = judge(name, tmp_path / "recording")
    found = complaints(verdict, outcomes, learning, roots, never, also)
    assert not found, f"{found}: {verdict['headline']}"
