"""Much of everything: children, processes that train, output, kills. A hundredth of it in `make test`, all of it in `make test-all`.

Nothing may be lost uncounted, nothing may be left behind, and the job must end as it would have bare.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD, ROOT, TIMEOUT, children, is_alive, name_of, wait_until

WHYSTOP = str(BUILD / "whystop")
EVERYTHING = "WHYSTOP_ALL" in os.environ
PATIENCE = TIMEOUT * (100 if EVERYTHING else 1)


def scaled(all_of_it):
    return all_of_it if EVERYTHING else max(1, all_of_it // 100)


def run(folder, *job, **options):
    return subprocess.run([WHYSTOP, "run", "-q", "--dir", str(folder), "--", *map(str, job)], timeout=PATIENCE, check=False,
                          stdin=subprocess.DEVNULL, **options)


def events(folder):
    done = subprocess.run([WHYSTOP, "inspect", str(folder)], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kind_of(event):
    return event.get("event") or event.get("kind")


ORPHANS = """
import os, sys
for i in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os._exit(7)
        os._exit(0)
    os.waitpid(child, 0)
os.write(1, b"all made\\n")
os._exit(3)
"""


def test_many_short_children_are_reaped_and_counted(tmp_path):
    count = scaled(100_000)
    done = run(tmp_path / "r", sys.executable, "-I", "-S", "-c", ORPHANS, count, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"all made\n", b"")
    found = events(tmp_path / "r")
    # Of those in between, which the job itself reaped, only that they vanished is known.
    ends = [event for event in found if kind_of(event) == "process-end" and event.get("code") == 7]
    dropped = sum(event["count"] for event in found if kind_of(event) == "drop" and event["counter"] == "supervise.process_ends_unrecorded")
    # The last ones may still live when the job has ended; they are not the job's any more.
    assert len(ends) + dropped >= count * 0.99, (len(ends), dropped)
    assert len(ends) + dropped <= count + 1


def test_many_processes_that_train_have_a_ring_each(tmp_path):
    """With all of it, torch itself; else a module of that name, which opens the ring just as well."""
    count = scaled(2_000)
    if not EVERYTHING:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text("")
    job = (
        "import subprocess, sys\n"
        "left = int(sys.argv[1])\n"
        "while left > 0:\n"
        "    batch = [subprocess.Popen([sys.executable, '-c', 'import torch']) for _ in range(min(left, 10))]\n"
        "    assert [one.wait() for one in batch] == [0] * len(batch)\n"
        "    left -= len(batch)\n"
        "raise SystemExit(4)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = run(tmp_path / "r", sys.executable, "-c", job, count, capture_output=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (4, b"", b"")
    told = [event for event in events(tmp_path / "r") if event.get("what") == "process-exit"]
    assert len(told) == count
    assert not list((tmp_path / "r" / "rings").glob("*.ring")), "what was drained is removed"


def test_a_torrent_of_output_arrives_whole(tmp_path):
    """1 GB/s for a minute, as fast as the machine goes; its middle is counted as not recorded."""
    chunks = scaled(60_000)
    job = ("import os, sys\nblock = bytes(range(256)) * 4096\n"
           f"for i in range({chunks}):\n    at = 0\n    while at < len(block):\n        at += os.write(1, block[at:])\nos._exit(5)\n")
    front = subprocess.Popen([WHYSTOP, "run", "-q", "--dir", str(tmp_path / "r"), "--", sys.executable, "-I", "-S", "-c", job],
                             stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    block = bytes(range(256)) * 4096
    size = 0
    while piece := front.stdout.read(1 << 20):
        assert piece == (block + block)[size % len(block) :][: len(piece)], f"differs behind byte {size}"
        size += len(piece)
    assert (front.wait(PATIENCE), size) == (5, chunks << 20)
    recorded = sum(path.stat().st_size for path in (tmp_path / "r").iterdir() if path.is_file())
    assert recorded < 200 << 20


COUNTING = """
import os, sys, time
for i in range(40):
    os.write(1, b"line %d\\n" % i)
    time.sleep(0.005)
os._exit(6)
"""


def ours(front):
    """The processes of this run, by the part they play."""
    found = {"front": front}
    for pid in children(front):
        found[{"wskeeper": "keeper", "wswitness": "witness"}.get(name_of(pid), "other")] = pid
    if "keeper" in found:
        for pid in children(found["keeper"]):
            found["job"] = pid
    return found


def test_kills_at_random_leave_nothing_behind(tmp_path):
    """Goal: whoever of us is killed and whenever, the job runs to its end with its output whole; and nobody of us stays."""
    dice = random.Random(16)
    for turn in range(scaled(10_000)):
        victim = dice.choice(("front", "keeper", "witness", "job"))
        folder = tmp_path / str(turn)
        out = tmp_path / "out"
        with open(out, "wb") as file, subprocess.Popen(
            [WHYSTOP, "run", "-q", "--dir", str(folder), "--", sys.executable, "-I", "-S", "-c", COUNTING + "#" + str(folder)],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as front:
            parts = wait_until(lambda: (lambda p: p if "job" in p or front.poll() is not None else None)(ours(front.pid)), "the job starts")
            time.sleep(dice.random() * 0.3)
            if victim in parts and is_alive(parts[victim]):
                os.kill(parts[victim], signal.SIGKILL)
            file.write(front.stdout.read())
            code = front.wait(PATIENCE)
        lines = out.read_bytes().splitlines()
        assert lines == [b"line %d" % i for i in range(len(lines))], (turn, victim)
        if victim != "job":
            assert len(lines) == 40, (turn, victim, len(lines))
        assert code in {"front": (6, -9), "job": (6, 137)}.get(victim, (6,)), (turn, victim, code)
        wait_until(lambda: not any(is_alive(pid) and name_of(pid) in ("whystop", "wskeeper", "wswitness") for pid in parts.values()),
                   f"all our processes end (turn {turn}, {victim})")
        found = events(folder)
        assert [kind_of(event) for event in found if kind_of(event) == "run-start"], (turn, victim)
        if victim not in ("front",):
            assert [kind_of(event) for event in found if kind_of(event) == "run-end"], (turn, victim)


def test_the_probe_may_be_killed_at_any_step(tmp_path):
    """The process that trains dies by SIGKILL: what it wrote before its last moment is on record."""
    if not (ROOT / ".venv").exists() and not EVERYTHING:
        pytest.skip("needs torch")
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys, signal, torch\n"
        "model = torch.nn.Linear(2, 1); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(10**9):\n"
        "    optimizer.zero_grad(); loss = model(torch.ones(1, 2)).sum() ** 2; loss.backward(); optimizer.step()\n"
        "    if step == int(sys.argv[1]):\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    pytest.importorskip("torch")
    for turn in range(scaled(200)):
        last = 20 + 37 * turn
        done = run(tmp_path / str(turn), sys.executable, str(script), last, capture_output=True)
        assert done.returncode == 128 + signal.SIGKILL
        verdict = json.loads(subprocess.run([WHYSTOP, "why", "--json", str(tmp_path / str(turn))], capture_output=True, check=False).stdout)
        assert verdict["progress"]["step"] == last + 1
