#!/usr/bin/env python3
"""Compiles every C++ file of src/ by itself, without making code of it: what a batch (tools/make_batches.py) does not show is
a file that lacks an include of its own. Usage: compile_alone.py [FILE|FOLDER...], after a build; run by `make test-all`.
"""

import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLAGS = ["-std=c++20", "-Isrc", "-Iinclude", "-Ibuild/generated/include", '-DWHYSTOP_SOURCE_DIR=""', '-DWHYSTOP_BINARY_DIR=""']


def complaint_about(path: pathlib.Path) -> str:
    """What the compiler says of the file; nothing if it is whole."""
    command = [os.environ.get("CXX", "c++"), *FLAGS, "-fsyntax-only", path]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.stdout if done.returncode != 0 else ""


def main() -> int:
    wanted = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [ROOT / "src"]
    files = sorted(found for path in wanted for found in (path.rglob("*.cc") if path.is_dir() else [path]))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(complaint_about, files) if text]
    print("".join(complaints), end="")
    print(f"{len(files) - len(complaints)} of {len(files)} files compile by themselves")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
