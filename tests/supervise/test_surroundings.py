"""Wherever whystop is run, the job's output, status and files are those of a bare run there."""

import json
import subprocess

import pytest

import refusals
import surroundings
from conftest import TIMEOUT


def test_no_place_harms_the_job():
    found = surroundings.outcomes()
    harmed = [f"{outcome.name}: {outcome.harm} | {outcome.lost}" for outcome in found if outcome.harm]
    if harmed:
        pytest.fail(f"{len(harmed)} of {len(found)}:\n" + "\n".join(harmed), pytrace=False)


def test_processes_of_another_namespace_are_not_taken_for_the_job(tmp_path):
    """In a PID namespace without a /proc of its own, the job's number means somebody else there."""
    where = str(tmp_path / "r")
    command = ["unshare", "--pid", "--fork", refusals.WHYSTOP, "run", "-q", "--dir", where, "--", "/bin/sh", "-c", "exit 3"]
    ran = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    if b"unshare" in ran.stderr:
        pytest.skip("no right to make a PID namespace")
    assert ran.returncode == 3
    events = [json.loads(line) for line in subprocess.run([refusals.WHYSTOP, "inspect", where], capture_output=True, check=True).stdout.splitlines()]
    ended = [event for event in events if event["kind"] == "process-end" and event["is_job"]]
    assert [event["name"] for event in ended] == [""], "its name could not be known"
    assert not [event for event in events if event["kind"] == "subject" and event["of"] == "process"]
