"""Reads a generated log of 1 GiB with whystop and with ripgrep, turn by turn, in CPU time.

    python bench/scan.py [--bench build/scan_bench] [--mib 1024] [--rounds 3]

The log is written for the run and removed after it. Fails when reading takes more than 64 MiB, or when the signatures alone
are slower than 5 times `rg --no-unicode` with the same patterns.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEAK_MIB_MAX = 64
TIMES_RIPGREP_MIN = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=str(ROOT / "build" / "scan_bench"))
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        text = subprocess.run(
            [options.bench, str(options.mib), str(options.rounds), str(log)], check=True, capture_output=True, text=True
        ).stdout
    print(text, end="")
    peak = float(re.search(r"peak memory ([\d.]+) MiB", text).group(1))
    ratio = re.search(r"^signatures .* ([\d.]+) x rg$", text, re.MULTILINE)
    slow = ratio is not None and float(ratio.group(1)) < TIMES_RIPGREP_MIN
    return 1 if slow or peak > PEAK_MIB_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
