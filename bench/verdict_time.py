#!/usr/bin/env python3
"""Time from a job's death to its verdict, for a recording of 24 hours.

The recording is made by bench/long_recording (a 10-process tree sampled at 1 Hz for 24 h, an hour of log lines a
second, one step a second), then `whystop why` reads it. Budget: 200 ms of CPU time.
"""

import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
BUDGET_S = 0.2


def cpu_of(command) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "run"
        subprocess.run([BUILD / "long_recording_bench", recording, "24"], check=True)
        size = sum(path.stat().st_size for path in recording.iterdir() if path.is_file())
        times = [cpu_of([BUILD / "whystop", "why", recording]) for _ in range(5)]
    spent = statistics.median(times)
    print(f"recording of 24 h: {size / 1e6:.1f} MB; verdict after {spent * 1000:.0f} ms of CPU time "
          f"(budget {BUDGET_S * 1000:.0f} ms, ratio {spent / BUDGET_S:.2f})")
    return 0 if spent <= BUDGET_S else 1


if __name__ == "__main__":
    sys.exit(main())
