"""Much of everything: children, processes that train, output, kills. A hundredth of it in `make test`, all of it in `make test-all`.

Nothing may be lost uncounted, nothing may be left behind, and the job must end as it would have bare. load.py measures the same jobs.
"""

import os
import subprocess

import pytest

import load
from conftest import ROOT, TIMEOUT

EVERYTHING = "WHYSTOP_ALL" in os.environ
PATIENCE = TIMEOUT * (100 if EVERYTHING else 1)


def scaled(all_of_it):
    return all_of_it if EVERYTHING else max(1, all_of_it // 100)


def run(folder, job, **options):
    return subprocess.run(load.watched(folder, job), timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL, capture_output=True, **options)


def test_many_short_children_are_reaped_and_counted(tmp_path):
    count = scaled(load.CHILDREN)
    done = run(tmp_path / "r", load.children_job(count))
    assert (done.returncode, done.stdout, done.stderr) == (3, b"all made\n", b"")
    # Of those in between, which the job itself reaped, only that they vanished is known.
    ends = dropped = 0
    for event in load.events(tmp_path / "r"):
        ends += load.kind_of(event) == "process-end" and event.get("code") == 7
        dropped += event["count"] if load.kind_of(event) == "drop" and event["counter"] == "supervise.process_ends_unrecorded" else 0
    # The last ones may still live when the job has ended; they are not the job's any more.
    assert count * 0.99 <= ends + dropped <= count + 1, (ends, dropped)


def test_many_processes_that_train_have_a_ring_each(tmp_path):
    """With all of it, torch itself; else a module of that name, which opens the ring just as well."""
    count = scaled(load.TORCHES)
    if not EVERYTHING:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text("")
    done = run(tmp_path / "r", load.imports_job(count), env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (4, b"", b"")
    assert sum(event.get("what") == "process-exit" for event in load.events(tmp_path / "r")) == count
    assert not list((tmp_path / "r" / "rings").iterdir()), "what was drained is removed, and what nobody wrote to"


def test_a_torrent_of_output_arrives_whole(tmp_path):
    """1 GB/s for a minute, as fast as the machine goes; its middle is counted as not recorded."""
    count = scaled(load.MEBIBYTES)
    assert load.read_torrent(load.watched(tmp_path / "r", load.torrent_job(count))) == (5, count << 20)
    recorded = sum(path.stat().st_size for path in (tmp_path / "r").iterdir() if path.is_file())
    assert recorded < 200 << 20


def test_kills_at_random_leave_nothing_behind(tmp_path):
    """Goal: whoever of us is killed and whenever, the job runs to its end with its output whole; and nobody of us stays."""
    count = scaled(load.KILLS * 4 // len(load.VICTIMS))
    assert load.kill_many(tmp_path, count) == (count, [])


def test_the_probe_may_be_killed_at_any_step(tmp_path):
    """Processes that train die by SIGKILL: what each wrote before its last moment is on record."""
    if not (ROOT / ".venv").exists() and not EVERYTHING:
        pytest.skip("needs torch")
    pytest.importorskip("torch")
    count = scaled(load.KILLS // len(load.VICTIMS))
    done = run(tmp_path / "r", load.trainings_job(count))
    assert (done.returncode, done.stderr) == (8, b"")
    completed = [int(line.split()[1]) for line in done.stdout.splitlines()]
    recorded = [step - load.WARM_UP for step in load.last_steps_on_record(tmp_path / "r")]
    assert len(recorded) == len(completed) == count
    wrong = [pair for pair in zip(completed, recorded) if pair[1] - pair[0] not in (0, 1)]
    assert wrong == [], "(steps it completed, last step on record)"
    assert not list((tmp_path / "r" / "rings").glob("*.ring"))
