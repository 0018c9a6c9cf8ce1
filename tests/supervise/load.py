"""Much of everything, bare and under whystop: children, processes that import torch, output, SIGKILLs.

`python load.py [--share N] [NAME...]` runs an N-th of it (1: all) and prints the table of docs/harmless.md; test_load.py holds each row to it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

from conftest import BUILD, children, is_alive, name_of, wait_until

WHYSTOP = str(BUILD / "whystop")
CHILDREN = 100_000
TORCHES = 2_000
MEBIBYTES = 60_000  # A minute of 1 GB/s.
KILLS = 10_000
VICTIMS = ("front", "keeper", "witness", "job", "probe")
SIDE_BY_SIDE = 4

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

IMPORTS = """
import subprocess, sys
left = int(sys.argv[1])
while left > 0:
    batch = [subprocess.Popen([sys.executable, '-c', 'import torch']) for _ in range(min(left, 10))]
    assert [one.wait() for one in batch] == [0] * len(batch)
    left -= len(batch)
raise SystemExit(4)
"""

TORRENT = """
import os, sys
block = bytes(range(256)) * 4096
for i in range(int(sys.argv[1])):
    at = 0
    while at < len(block):
        at += os.write(1, block[at:])
os._exit(5)
"""
BLOCK = bytes(range(256)) * 4096

COUNTING = """
import os, time
for i in range(40):
    os.write(1, b"line %d\\n" % i)
    time.sleep(0.005)
os._exit(6)
"""
LINES = [b"line %d" % i for i in range(40)]

# The parent imports torch once; every child is a fork that trains, tells the steps it completed by shared memory, and is killed.
TRAININGS = """
import mmap, os, random, signal, sys, time
import torch

def train(told, steps=1 << 60):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    done = 0
    while done < steps:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        done += 1
        told[:8] = done.to_bytes(8, "little")

torch.set_num_threads(1)
random.seed(5)
train(bytearray(8), steps=3)  # A forked child counts on from there.
for turn in range(int(sys.argv[1])):
    told = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        train(told)
    while int.from_bytes(told[:8], "little") == 0:
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(child, int.from_bytes(told[:8], "little"), flush=True)
os._exit(8)
"""
WARM_UP = 3


def isolated(code, count):
    return [sys.executable, "-I", "-S", "-c", code, str(count)]


def children_job(count):
    return isolated(ORPHANS, count)


def imports_job(count):
    return [sys.executable, "-c", IMPORTS, str(count)]


def torrent_job(count):
    return isolated(TORRENT, count)


def trainings_job(count):
    return [sys.executable, "-c", TRAININGS, str(count)]


def watched(folder, job):
    return [WHYSTOP, "run", "-q", "--dir", str(folder), "--", *job]


def events(folder):
    """Of a recording, one by one: it may hold many."""
    with subprocess.Popen([WHYSTOP, "inspect", str(folder)], stdout=subprocess.PIPE, text=True) as inspecting:
        for line in inspecting.stdout:
            yield json.loads(line)


def kind_of(event):
    return event.get("event") or event.get("kind")


def read_torrent(command):
    """The status and the number of bytes, all of which are as they should be."""
    size = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as running:
        while piece := running.stdout.read(1 << 20):
            start = size % len(BLOCK)
            assert piece == (BLOCK[start:] + BLOCK[:start])[: len(piece)], f"differs behind byte {size}"
            size += len(piece)
    return running.returncode, size


def last_steps_on_record(folder):
    """The last step of each training, one after the other: where the count falls back, the next one began."""
    last = []
    for event in events(folder):
        if kind_of(event) == "progress" and event.get("step") is not None:
            if last and event["step"] > last[-1]:
                last[-1] = event["step"]
            else:
                last.append(event["step"])
    return last


def ours(front):
    """The processes of this run, by the part they play."""
    found = {"front": front}
    for pid in children(front):
        found[{"wskeeper": "keeper", "wswitness": "witness", "wswatcher": "watcher"}.get(name_of(pid), "other")] = pid
    if "keeper" in found:
        for pid in children(found["keeper"]):
            found["job"] = pid
    return found


def kill_one(folder, turn):
    """Kills one of the processes of a short run at a random moment. Returns who it was and what went wrong, or nothing."""
    dice = random.Random(16 + turn)
    victim = VICTIMS[turn % 4]
    where = folder / str(turn)
    with subprocess.Popen(watched(where, isolated(COUNTING + "#" + str(where), 0)), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as front:
        reader = concurrent.futures.ThreadPoolExecutor(1)
        output = reader.submit(front.stdout.read)
        parts = wait_until(lambda: (lambda found: found if "job" in found or front.poll() is not None else None)(ours(front.pid)), "the job starts")
        time.sleep(dice.random() * 0.3)
        if victim in parts and is_alive(parts[victim]):
            os.kill(parts[victim], signal.SIGKILL)
        lines = output.result().splitlines()
        reader.shutdown()
        code = front.wait()
    wrong = []
    if lines != LINES[: len(lines)] or (victim != "job" and len(lines) != len(LINES)):
        wrong.append(f"{len(lines)} lines: {lines[-3:]}")
    if code not in {"front": (6, -9), "job": (6, 137)}.get(victim, (6,)):
        wrong.append(f"status {code}")
    names = ("whystop", "wskeeper", "wswitness", "wswatcher")
    wait_until(lambda: not any(is_alive(pid) and name_of(pid) in names for pid in parts.values()), f"all our processes end (turn {turn}, {victim})")
    kinds = {kind_of(event) for event in events(where)}
    if "run-start" not in kinds or (victim != "front" and "run-end" not in kinds):
        wrong.append(f"on record: {sorted(kinds)}")
    return victim, "; ".join(wrong)


def kill_many(folder, count, seconds=None):
    """How many kills were tried, and what went wrong. Stops beginning new ones after so many seconds."""
    end = time.monotonic() + seconds if seconds else None
    tried, wrong = 0, []
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        turns = iter(range(count))
        waiting = {pool.submit(kill_one, folder, turn) for _, turn in zip(range(SIDE_BY_SIDE * 2), turns)}
        while waiting:
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                tried += 1
                victim, what = future.result()
                wrong += [f"{victim}: {what}"] if what else []
                turn = next(turns, None) if end is None or time.monotonic() < end else None
                if turn is not None:
                    waiting.add(pool.submit(kill_one, folder, turn))
    return tried, wrong


# Runs a command and waits for all that it leaves behind, so that their time counts.
REAPER = """
import ctypes, os, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
child = os.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(1)
code = 0
try:
    while True:
        pid, status = os.wait()
        code = os.waitstatus_to_exitcode(status) if pid == child else code
except ChildProcessError:
    pass
os._exit(code if code >= 0 else 128 - code)
"""


class Cost:
    """Time and processor time of what runs inside, all its processes together."""

    def __enter__(self):
        self.before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - self.before.ru_utime - self.before.ru_stime


def row(name, job, end, folder, run=None):
    run = run or (lambda command: (subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False).returncode, None))
    reaper = [sys.executable, "-I", "-S", "-c", REAPER]
    with Cost() as bare:
        plain = run(reaper + job)
    with Cost() as cost:
        under = run(reaper + watched(folder, job))
    kept = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    told = "the same end" if plain[1] is None else "the same end and bytes"
    same = told if plain == under and plain[0] == end else f"**{plain} bare, {under}**"
    return (f"| {name} | {bare.cpu:.1f} | {cost.cpu:.1f} | {cost.cpu / bare.cpu:.2f} | {bare.seconds:.0f} | {cost.seconds:.0f} | "
            f"{kept / 1e6:.1f} MB | {same} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=100, help="an N-th of it")
    parser.add_argument("--seconds", type=float, help="begin no further kill after so long")
    parser.add_argument("names", nargs="*", help="children, torch, output, kills, trainings")
    options = parser.parse_args()
    wanted = options.names or ["children", "torch", "output", "kills", "trainings"]

    def share(count):
        return max(1, count // options.share)

    print("| job | CPU s bare | CPU s under whystop | ratio | s bare | s under whystop | recording | what came out |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="whystop load ") as made:
        folder = pathlib.Path(made)
        if "children" in wanted:
            count = share(CHILDREN)
            print(row(f"{count:,} short children", children_job(count), 3, folder / "children"), flush=True)
        if "torch" in wanted:
            count = share(TORCHES)
            print(row(f"{count:,} processes that import torch", imports_job(count), 4, folder / "torch"), flush=True)
        if "output" in wanted:
            count = share(MEBIBYTES)
            print(row(f"{count:,} MiB of output", torrent_job(count), 5, folder / "output", read_torrent), flush=True)
        if "trainings" in wanted:
            count = share(KILLS // len(VICTIMS))
            print(row(f"{count:,} trainings, each killed", trainings_job(count), 8, folder / "trainings"), flush=True)
        if "kills" in wanted:
            tried, wrong = kill_many(folder, share(KILLS * 4 // len(VICTIMS)), options.seconds)
            print(f"{tried:,} SIGKILLs spread over front, keeper, witness and job: {len(wrong)} with harm", *wrong[:20], sep="\n")


if __name__ == "__main__":
    main()
