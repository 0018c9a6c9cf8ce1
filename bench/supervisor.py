#!/usr/bin/env python3
"""What supervising costs: CPU and memory on an idle job, and pass-through of output against tee(1).

    bench/supervisor.py [--whystop build/whystop] [--seconds 20] [--mib 1024]

Prints ratios of CPU time taken in one interleaved run; exits 1 when a bar of docs/architecture.md is missed.
"""

import argparse
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

OWN_NAMES = {"whystop", "wskeeper", "wswitness"}
IDLE_CPU_PERCENT_MAX = 0.2
RSS_MIB_MAX = 16.0


def own_processes(front):
    """The front and its children that are ours."""
    pids = [front]
    for pid in pathlib.Path(f"/proc/{front}/task/{front}/children").read_text().split():
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() in OWN_NAMES:
            pids.append(int(pid))
    return pids


def cpu_seconds(pid):
    """By the scheduler's own account, in nanoseconds; /proc/PID/stat counts in hundredths of a second."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def memory_mib(pid):
    fields = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        fields[name] = int(value.split()[0]) / 1024
    return fields["Rss"], fields["Pss"]


def idle(whystop, folder, seconds):
    front = subprocess.Popen([whystop, "run", "--quiet", "--dir", folder / "idle", "--", "sleep", "100000"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    time.sleep(5)  # The first seconds are sampled more densely on purpose.
    pids = own_processes(front.pid)
    before, start = {pid: cpu_seconds(pid) for pid in pids}, time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - start
    percent = 100 * sum(cpu_seconds(pid) - before[pid] for pid in pids) / elapsed
    names = [pathlib.Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids]
    memory = [memory_mib(pid) for pid in pids]
    front.send_signal(signal.SIGTERM)
    front.wait()
    for name, (rss, pss) in zip(names, memory):
        print(f"  {name:10} rss {rss:5.1f} MiB, its share of shared pages {pss:5.1f} MiB")
    print(f"idle job: {percent:.3f} % of one core (bar {IDLE_CPU_PERCENT_MAX}), "
          f"largest rss {max(rss for rss, _ in memory):.1f} MiB (bar {RSS_MIB_MAX}), all three {sum(p for _, p in memory):.1f} MiB")
    return percent <= IDLE_CPU_PERCENT_MAX and max(rss for rss, _ in memory) <= RSS_MIB_MAX


def child_cpu(command):
    """CPU seconds of a whole pipeline, orphans included (the keeper outlives the front by a moment), and wall time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(["bash", "-c", command], check=True, stdin=subprocess.DEVNULL)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def throughput(whystop, folder, mib):
    """A writer of `mib` MiB, passed through tee into a file, through whystop into its recording, or through cat."""
    write = f"head -c {mib}M /dev/zero"
    ways = {
        "bare": f"{write} | cat > /dev/null",
        "tee": f"{write} | tee {folder}/copy | cat > /dev/null; rm {folder}/copy",
        "whystop": f"{whystop} run --quiet --dir {folder}/flood -- {write} | cat > /dev/null; rm -r {folder}/flood",
    }
    taken = {way: [] for way in ways}
    for _ in range(3):
        for way, command in ways.items():
            taken[way].append(child_cpu(command))
    cpu = {way: statistics.median(t[0] for t in times) for way, times in taken.items()}
    wall = {way: statistics.median(t[1] for t in times) for way, times in taken.items()}
    for way in ways:
        print(f"  {way:8} {cpu[way]:6.2f} s CPU, {wall[way]:6.2f} s wall, {mib / wall[way]:7.0f} MiB/s")
    print(f"pass-through, CPU time: whystop / tee = {cpu['whystop'] / cpu['tee']:.2f}, "
          f"whystop / bare = {cpu['whystop'] / cpu['bare']:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    root = pathlib.Path(__file__).resolve().parents[1]
    parser.add_argument("--whystop", default=root / "build" / "whystop", type=pathlib.Path)
    parser.add_argument("--seconds", default=20, type=float)
    parser.add_argument("--mib", default=1024, type=int)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="whystop-bench-"))
    os.environ["WHYSTOP_HOME"] = str(folder)
    become_subreaper = 36  # PR_SET_CHILD_SUBREAPER
    ctypes.CDLL(None).prctl(become_subreaper, 1, 0, 0, 0)
    try:
        good = idle(options.whystop.resolve(), folder, options.seconds)
        throughput(options.whystop.resolve(), folder, options.mib)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
