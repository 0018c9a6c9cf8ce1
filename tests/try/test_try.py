"""`whystop try` on real programs: what it proves, whom it leaves alone, and that nothing of the user's is touched."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import BUDGET, ROOT, TIMEOUT, WHYSTOP, attempt, record, state_of, verdict_of
from look_alikes import NAMES, SICK, WELL, program

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not WHYSTOP.exists(), reason="no binary")


def learning_roots(verdict):
    return [cause["id"] for cause in verdict["causes"] if cause["role"] == "root" and cause["answers"] == "learning"]


ALL = os.environ.get("WHYSTOP_ALL") == "1"


@pytest.mark.parametrize("cause", SICK if ALL else ("lr-too-high", "dead-relu"))
def test_look_alikes_are_told_apart_and_no_file_is_touched(cause, project):
    run = record(project, program(SICK[cause]))
    before = state_of(project)
    done = attempt(run)
    verdict = verdict_of(run)
    roots = learning_roots(verdict)
    assert roots and set(roots) <= NAMES[cause] and (len(roots) == 1 or cause == "labels-random"), done.stdout.decode() + done.stderr.decode()
    root = verdict["causes"][0]
    assert root["confidence"] == ("certain" if len(NAMES[cause]) == 1 or cause == "saturation" else "likely")
    assert root["evidence"][0]["kind"] == "trial"
    assert [trial["result"] for trial in verdict["trials"]].count("proven") == 1
    assert state_of(project) == before
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(verdict, json.loads((ROOT / "docs" / "verdict.schema.json").read_text()))


@pytest.mark.parametrize("twin", WELL if ALL else list(WELL)[:1])
def test_a_healthy_program_is_blamed_for_nothing(twin, project):
    run = record(project, program(WELL[twin]))
    done = attempt(run)
    verdict = verdict_of(run)
    assert [cause["id"] for cause in verdict["causes"] if cause["fault"]] == [], done.stdout.decode()
    assert "proven" not in [trial["result"] for trial in verdict["trials"]]


def processes_with(text):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text in (entry / "cmdline").read_bytes().decode(errors="replace"):
                found.append(entry.name)
        except OSError:
            pass
    return found


def test_a_kill_in_the_middle_leaves_nothing_behind(project):
    run = record(project, program(SICK["lr-too-high"]))
    before, mounts = state_of(project), pathlib.Path("/proc/self/mountinfo").read_text()
    whystop = subprocess.Popen([WHYSTOP, "try", "--budget", BUDGET, run], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
    mark = str(run / "trials")
    while not processes_with(mark) and whystop.poll() is None:
        time.sleep(0.1)
    if whystop.poll() is not None:
        pytest.skip(whystop.stderr.read().decode())
    time.sleep(1)
    whystop.send_signal(signal.SIGKILL)
    whystop.communicate()
    end = time.monotonic() + TIMEOUT
    while processes_with(mark) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes_with(mark) == []
    assert pathlib.Path("/proc/self/mountinfo").read_text() == mounts
    assert state_of(project) == before


@pytest.mark.parametrize(("arguments", "word"), [(["--budget", "soon"], "no time"), (["no-such-run"], "no recording")])
def test_bad_input_is_refused_with_a_sentence(arguments, word, tmp_path):
    done = subprocess.run([WHYSTOP, "try", *arguments], capture_output=True, timeout=TIMEOUT, check=False,
                          env={**os.environ, "WHYSTOP_HOME": str(tmp_path)})
    assert done.returncode == 2 and word in done.stderr.decode()
