"""Reads generated metric files with whystop and with TensorBoard's Python loader, turn by turn, in CPU time.

    python bench/events_bench.py [--bench build/events_bench] [--records 2000000] [--rounds 3]

Run it with an interpreter that has `tensorboard`; without it the comparison is left out, and said so. The loader gets a
smaller file (it is slow); rates are points a second of CPU. Fails below the bar of 200 times the loader, or when
reading takes more than 64 MiB.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BAR_TIMES_LOADER = 200
PEAK_KIB_MAX = 64 * 1024


def read_with_whystop(bench: str, path: pathlib.Path) -> dict[str, float]:
    return json.loads(subprocess.run([bench, "read", str(path)], check=True, capture_output=True).stdout)


def read_with_tensorboard(path: pathlib.Path) -> float:
    """Points a second of the loader that TensorBoard itself uses without its Rust server."""
    from tensorboard.backend.event_processing import event_accumulator

    begin = time.process_time()
    loaded = event_accumulator.EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
    loaded.Reload()
    seconds = time.process_time() - begin
    tags = loaded.Tags()
    points = sum(len(loaded.Tensors(tag)) for tag in tags["tensors"])
    points += sum(len(loaded.Scalars(tag)) for tag in tags["scalars"])
    return points / seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=str(ROOT / "build" / "events_bench"))
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--loader-records", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("tensorboard", "csv", "jsonl"):
            path = pathlib.Path(folder) / kind
            records = options.records if kind == "tensorboard" else options.records // 4
            subprocess.run([options.bench, "make", kind, str(path), str(records)], check=True)
            small = pathlib.Path(folder) / "events.out.tfevents.1.small"
            subprocess.run([options.bench, "make", "tensorboard", str(small), str(options.loader_records)], check=True)
            rates, loader_rates, last = [], [], {}
            for _ in range(options.rounds):
                last = read_with_whystop(options.bench, path)
                rates.append(last["points"] / last["cpu_seconds"])
                if kind == "tensorboard":
                    try:
                        loader_rates.append(read_with_tensorboard(small))
                    except ImportError:
                        print("no tensorboard in this interpreter: not compared")
            rate = statistics.median(rates)
            gigabytes = last["bytes"] / last["points"] * rate / 1e9
            print(
                f"{kind}: {rate / 1e6:.2f} M points/s, {gigabytes:.3f} GB/s of CPU (median of {options.rounds}, "
                f"spread {min(rates) / 1e6:.2f}-{max(rates) / 1e6:.2f}), peak {last['peak_rss_kib'] / 1024:.1f} MiB, "
                f"file {last['bytes'] / 1e6:.0f} MB"
            )
            failed = failed or last["peak_rss_kib"] > PEAK_KIB_MAX
            if loader_rates:
                ratio = rate / statistics.median(loader_rates)
                print(f"  TensorBoard's loader: {statistics.median(loader_rates) / 1e3:.1f} k points/s; {ratio:.0f} times")
                failed = failed or ratio < BAR_TIMES_LOADER
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
