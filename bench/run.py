#!/usr/bin/env python3
"""Runs every measurement of this folder and says which budgets were missed.

Each script prints ratios against a peer or a limit that was measured in the same run, and fails when it is over its
budget. Usage: bench/run.py [NAME ...]
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    wanted = set(sys.argv[1:])
    scripts = [path for path in sorted(HERE.glob("*.py")) if path.name != "run.py" and not path.name.startswith("_")]
    missed = []
    for script in scripts:
        if wanted and script.stem not in wanted:
            continue
        print(f"\n== {script.stem}", flush=True)
        if subprocess.run([sys.executable, script], check=False).returncode != 0:
            missed.append(script.stem)
    print("\nover budget or failed: " + (", ".join(missed) if missed else "none"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
