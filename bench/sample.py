"""One sample of a process tree: whystop's sensors against psutil, by CPU time, interleaved in one run.

    python bench/sample.py [--build build] [--processes 100] [--rounds 7]

psutil is asked for what the sensors report: for each process its CPU times, memory, threads, state, descriptors and
I/O within oneshot(), and memory, swap, CPU, load, network and disk of the machine. Prints the medians and their ratio;
exits 1 when a sweep that reads everything costs more than a tenth of psutil's sample.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import psutil


def start_tree(processes):
    """A parent with `processes` - 1 children of 8 MiB each; all wait until our end of the pipe is closed."""
    script = f"""
import os, sys
keep = bytearray(8 << 20)
for _ in range({processes} - 1):
    if os.fork() == 0:
        break
os.write(1, b'x')
os.read(0, 1)
"""
    tree = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ready = 0
    while ready < processes:
        ready += len(os.read(tree.stdout.fileno(), processes))
    return tree


def psutil_sample(parent):
    rows = []
    for process in [parent, *parent.children(recursive=True)]:
        with process.oneshot():
            rows.append((process.cpu_times(), process.memory_info(), process.num_threads(), process.status(),
                         process.num_fds(), process.io_counters()))
    return (rows, psutil.virtual_memory(), psutil.swap_memory(), psutil.cpu_times(), psutil.getloadavg(),
            psutil.net_io_counters(), psutil.disk_usage("/"))


def psutil_cpu_us(pid, samples):
    parent = psutil.Process(pid)
    psutil_sample(parent)
    before = time.process_time()
    for _ in range(samples):
        psutil_sample(parent)
    return (time.process_time() - before) / samples * 1e6


def whystop_cpu_us(program, pid, sweeps):
    out = subprocess.run([program, str(pid), str(sweeps)], check=True, capture_output=True, text=True).stdout
    ordinary, everything = out.split()
    return float(ordinary), float(everything)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    program = os.path.join(arguments.build, "sample_bench")
    tree = start_tree(arguments.processes)
    try:
        rounds = []
        for _ in range(arguments.rounds):
            ordinary, everything = whystop_cpu_us(program, tree.pid, 50)
            rounds.append((ordinary, everything, psutil_cpu_us(tree.pid, 10)))
    finally:
        tree.stdin.close()
        tree.wait()
    ordinary, everything, peer = (statistics.median(column) for column in zip(*rounds))
    print(f"{arguments.processes} processes, CPU microseconds a sample, median of {arguments.rounds} interleaved rounds")
    print(f"  psutil {psutil.__version__:<12} {peer:10.0f}")
    print(f"  whystop, everything {everything:10.0f}   1/{peer / everything:.1f} of psutil")
    print(f"  whystop, at 1 Hz    {ordinary:10.0f}   1/{peer / ordinary:.1f} of psutil, {ordinary / 1e4:.3f} % of a core")
    sys.exit(0 if everything * 10 <= peer else 1)


if __name__ == "__main__":
    main()
