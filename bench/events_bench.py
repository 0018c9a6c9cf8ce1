"""Reads generated metric files with whystop and with TensorBoard's two loaders, turn by turn, in CPU time.

    python bench/events_bench.py [--bench build/events_bench] [--records 19800000] [--rounds 3]

The event file has 1 GiB; all files are removed after the run. Run it with an interpreter that has `tensorboard`, which
brings its data server (rustboard) with it; without it the comparison is left out, and said so. The Python loader gets a
smaller file (it is slow); rates are points a second of CPU. Rustboard is started on the file and its CPU time is taken
when it comes to rest. Fails below the bars of 200 times the Python loader and 5 times rustboard, or when reading takes
more than 64 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BAR_TIMES_LOADER = 200
BAR_TIMES_RUSTBOARD = 5
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


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_with_rustboard(folder: pathlib.Path, points: int, checksum: bool) -> float:
    """Points a second of CPU of TensorBoard's data server, one pass over the folder."""
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", str(folder), "--reload", "once", "--port", "0"]
    with subprocess.Popen(
        command + (["--checksum"] if checksum else []), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        used, rest = 0.0, 0
        while rest < 4 or used < 0.2:
            time.sleep(0.5)
            now = cpu_seconds(server.pid)
            rest = rest + 1 if now == used else 0
            used = now
        server.kill()
    return points / used


def compare(name: str, rate: float, other_rates: "list[float]", bar: float) -> bool:
    """Prints the ratio; true if it is below the bar."""
    other = statistics.median(other_rates)
    print(f"  {name}: {other / 1e3:.1f} k points/s; {rate / other:.1f} times")
    return rate / other < bar


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=str(ROOT / "build" / "events_bench"))
    parser.add_argument("--records", type=int, default=19_800_000)
    parser.add_argument("--loader-records", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("tensorboard", "csv", "jsonl"):
            (pathlib.Path(folder) / kind).mkdir()
            path = pathlib.Path(folder) / kind / "events.out.tfevents.1.bench"  # The name that rustboard looks for.
            records = options.records if kind == "tensorboard" else options.records // 40
            subprocess.run([options.bench, "make", kind, str(path), str(records)], check=True)
            small = pathlib.Path(folder) / "events.out.tfevents.1.small"
            subprocess.run([options.bench, "make", "tensorboard", str(small), str(options.loader_records)], check=True)
            rates, loader_rates, rustboard_rates, checked_rates, last = [], [], [], [], {}
            for _ in range(options.rounds):
                last = read_with_whystop(options.bench, path)
                rates.append(last["points"] / last["cpu_seconds"])
                if kind == "tensorboard":
                    try:
                        loader_rates.append(read_with_tensorboard(small))
                        rustboard_rates.append(read_with_rustboard(path.parent, records, checksum=False))
                        checked_rates.append(read_with_rustboard(path.parent, records, checksum=True))
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
            path.unlink()
            if loader_rates:
                failed = compare("TensorBoard's Python loader", rate, loader_rates, BAR_TIMES_LOADER) or failed
                failed = compare("rustboard", rate, rustboard_rates, BAR_TIMES_RUSTBOARD) or failed
                failed = compare("rustboard with checksums", rate, checked_rates, BAR_TIMES_RUSTBOARD) or failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
