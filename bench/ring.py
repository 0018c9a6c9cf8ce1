"""Nanoseconds a record: the C library (build/ring_bench), and both Python writers beside an empty call, in CPU time.

Fails when a step by the extension costs more than ten empty Python calls, or one by pure Python more than a hundred.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
RECORDS = 20_000
BARS = {"extension": 10, "pure Python": 100}


def empty(step, loss, lr, wait_s, duration_s, flags):
    """What any call with six arguments costs."""


def nanoseconds(call) -> float:
    begin = time.process_time()
    for step in range(RECORDS):
        call(step, 0.5, 1e-3, None, 0.01, 0)
    return (time.process_time() - begin) * 1e9 / RECORDS


def main() -> int:
    failed = subprocess.run([BUILD / "ring_bench"], check=False).returncode != 0
    sys.path.insert(0, str(BUILD / "python"))
    from whystop_probe.core import pure_ring, ring

    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHYSTOP_RING_DIR"] = folder
        writers = {"pure Python": pure_ring.open_pure_writer()}
        if ring.native is not None:
            writers["extension"] = ring.native.open_writer()
        times = {name: [] for name in ("empty call", *writers)}
        for _ in range(15):
            times["empty call"].append(nanoseconds(empty))
            for name, writer in writers.items():
                times[name].append(nanoseconds(writer.step))
        for writer in writers.values():
            writer.close()
    base = statistics.median(times.pop("empty call"))
    print(f"empty Python call {base:.0f} ns")
    for name, measured in times.items():
        each = statistics.median(measured)
        print(f"step by {name}: {each:.0f} ns, {each / base:.1f} empty calls (bar: {BARS[name]})")
        failed = failed or each / base > BARS[name]
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
