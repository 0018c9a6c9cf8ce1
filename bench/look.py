"""One look at where a Python process is: whystop's against py-spy's dump, by CPU time, turn by turn on the same processes.

    python bench/look.py [--build build] [--rounds 9]

A process of 50 threads, 20 calls deep each, and a tree of 16 processes. Both programs are started anew for each look; whystop's
tells system calls, resources and limits as well. "Held up" is how long the kernel said that a tracer held the process ('t' or 'T')
while the program ran, as seen by a thread that asks all the time. Exits 1 when a look costs more CPU time than py-spy's dump, or
holds the process up at all.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import threading
import time

WAIT = """
def wait(depth):
    if depth:
        wait(depth - 1)
    else:
        forever.wait()
"""
THREADS = f"""import threading
forever = threading.Event()
{WAIT}
for _ in range(49):
    threading.Thread(target=wait, args=(20,), daemon=True).start()
print("ready", flush=True)
wait(20)
"""
TREE = f"""import os, threading
forever = threading.Event()
{WAIT}
children = 0
for _ in range(15):
    if os.fork() == 0:
        wait(20)
print("ready", flush=True)
wait(20)
"""


class HeldUp(threading.Thread):
    """Asks the kernel all the time whether a tracer holds the process, and how long each time."""

    def __init__(self, pid):
        super().__init__()
        self._stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        self._over = threading.Event()
        self.ms = 0.0
        self.asked = 0

    def run(self):
        before = time.perf_counter()
        while not self._over.is_set():
            state = os.pread(self._stat, 64, 0).rpartition(b") ")[2][:1]
            now = time.perf_counter()
            self.ms += 1000 * (now - before) if state in (b"t", b"T") else 0
            self.asked += 1
            before = now
        os.close(self._stat)

    def end(self):
        self._over.set()
        self.join()


def cpu_ms(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if b"wait" not in done.stdout:
        sys.exit(f"{command}: no stack: {done.stdout[-500:]!r}")
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(title, source, looks, rounds):
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, start_new_session=True) as target:
        target.stdout.readline()
        costs = {name: [] for name in looks}
        held = {name: 0.0 for name in looks}
        for _ in range(rounds):
            for name, command in looks.items():
                costs[name].append(cpu_ms([*command, str(target.pid)]))
        for name, command in looks.items():
            watch = HeldUp(target.pid)
            watch.start()
            cpu_ms([*command, str(target.pid)])
            watch.end()
            held[name] = watch.ms
        os.killpg(target.pid, 9)
    ours, theirs = (statistics.median(costs[name]) for name in looks)
    print(f"{title}: " + ", ".join(f"{name} {statistics.median(costs[name]):.1f} ms CPU, held up {held[name]:.2f} ms" for name in looks)
          + f"; ratio {ours / theirs:.2f}")
    return ours <= theirs and held["whystop"] == 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=pathlib.Path(__file__).resolve().parents[1] / "build", type=pathlib.Path)
    parser.add_argument("--rounds", default=9, type=int)
    options = parser.parse_args()
    spy = pathlib.Path(sys.executable).parent / "py-spy"
    whystop = [options.build / "whystop", "attach", "--looks", "1"]
    met = measure("50 threads", THREADS, {"whystop": whystop, "py-spy dump": [spy, "dump", "--pid"]}, options.rounds)
    met &= measure("tree of 16", TREE, {"whystop": whystop, "py-spy dump": [spy, "dump", "--subprocesses", "--pid"]}, options.rounds)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
