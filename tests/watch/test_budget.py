"""A recording has a budget: a long run is thinned, and its verdict stays what it was."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
STEPS = 250_000  # Over 30 MB of the probe's records alone.
BUDGET = 4 << 20


def simulated(folder, size, *arguments):
    """A recording of five days of training."""
    subprocess.run([BUILD / "long_run", folder, str(size), str(STEPS), *arguments], check=True)
    return folder


def size_of(folder):
    return sum(path.stat().st_blocks * 512 for path in pathlib.Path(folder).rglob("*"))


def judged(folder):
    """The verdict without the count of what was not kept, and without figures in words."""
    verdict = json.loads(subprocess.run([WHYSTOP, "why", "--json", folder], capture_output=True, check=False).stdout)
    return {
        "outcome": verdict["outcome"], "learning": verdict["learning"], "exit": verdict["exit"],
        "progress": verdict["progress"], "headline": verdict["headline"],
        "causes": [(cause["id"], cause["role"], cause["confidence"]) for cause in verdict["causes"]],
        "ruled out": [(one["what"], re.sub(r"in [\d,]+ values", "in N values", one["figure"])) for one in verdict["ruled_out"]],
    }


def events(folder, kind):
    shown = subprocess.run([WHYSTOP, "inspect", folder, "--kind", kind], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in shown.stdout.splitlines()]


def series(folder, name):
    points = {}
    for event in events(folder, "scalar"):
        if event["series"] == name:
            assert event["step"] not in points, "a point came twice"
            points[event["step"]] = event["value"]
    return points


def readings(folder):
    return [reading["value"] for event in events(folder, "sample") for reading in event["readings"]]


@pytest.mark.parametrize("sick", [[], ["nan"]])
def test_a_long_run_keeps_to_its_budget_and_to_its_verdict(tmp_path, sick):
    whole = simulated(tmp_path / "whole", 1 << 30, *sick)
    thinned = simulated(tmp_path / "thinned", BUDGET, *sick)
    assert size_of(whole) > 7 * BUDGET
    assert size_of(thinned) <= BUDGET
    assert judged(thinned) == judged(whole)
    full, kept = series(whole, "loss"), series(thinned, "loss")
    assert len(full) == STEPS and len(kept) < STEPS / 10
    assert {step: str(value) for step, value in kept.items()}.items() <= {step: str(value) for step, value in full.items()}.items()
    assert (min(kept), max(kept)) == (1, STEPS)
    numbers = [value for value in full.values() if isinstance(value, (int, float)) and value == value]
    kept_numbers = [value for value in kept.values() if isinstance(value, (int, float)) and value == value]
    assert (min(kept_numbers), max(kept_numbers)) == (min(numbers), 40)
    assert kept[STEPS // 2] == 40, "the spike half-way"
    if sick:
        assert STEPS * 55 // 100 + 1 in kept, "the first NaN"
    hundredths = {100 * step // STEPS for step in kept}
    assert set(range(100)) <= hundredths, "no stretch of the run is without a point"
    memory, kept_memory = readings(whole), readings(thinned)
    assert max(kept_memory) == max(memory) > 90 << 30
    assert min(kept_memory) == min(memory)


def test_the_default_budget_is_about_200_megabytes():
    shown = subprocess.run([WHYSTOP, "run", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--max-size" in shown and "200M" in shown


def test_the_watcher_of_a_real_run_writes_the_middle(tmp_path):
    steps = 60_000  # 7.7 MB; faster than the watcher need keep up with, so what it catches is not counted.
    program = ("import time\nfrom whystop_probe.core import ring\nwriter = ring.open_writer()\n"
               f"for step in range(1, {steps} + 1):\n"
               "    writer.step(step, 1 / step, None, None, None, 0)\n"
               "    step % 1000 or time.sleep(0.05)\nwriter.close()\n")
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "WHYSTOP_RING_SLOTS": "65536"}
    folder = tmp_path / "r"
    subprocess.run([WHYSTOP, "run", "-q", "--no-probe", "--max-size", "4M", "--dir", folder, "--", sys.executable, "-c", program],
                   check=True, env=environment)
    assert size_of(folder) <= 4 << 20
    assert (folder / "middle.tfrecord").stat().st_size > 0
    assert (folder / "middle.tfrecord").stat().st_mode & 0o077 == 0
    kept = series(folder, "loss")
    assert (min(kept), max(kept)) == (1, steps) and len(kept) < steps
    late_from = steps - 2000
    assert set(range(late_from, steps + 1)) <= set(kept), "the end is kept in full"


def test_rings_go_when_the_run_has_ended(tmp_path):
    program = ("from whystop_probe.core import ring\nwriter = ring.open_writer()\n"
               "for step in range(1, 1001): writer.step(step, 1 / step, None, None, None, 0)\nwriter.close()\n")
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    subprocess.run([WHYSTOP, "run", "-q", "--no-probe", "--dir", tmp_path / "r", "--", sys.executable, "-c", program],
                   check=True, env=environment)
    assert list((tmp_path / "r" / "rings").glob("*.ring")) == []
    assert len(series(tmp_path / "r", "loss")) == 1000


@pytest.mark.parametrize("wrong", ["much", "1k", "-5G"])
def test_a_budget_that_is_none_is_refused(tmp_path, wrong):
    done = subprocess.run([WHYSTOP, "run", f"--max-size={wrong}", "--dir", tmp_path / "r", "--", "true"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--max-size" in done.stderr
