#!/usr/bin/env python3
"""Builds the wheel into a folder and names it after the oldest C library that it runs with, as auditwheel finds it.

Without that a wheel is called linux_x86_64, and pip installs it also where the program cannot start.
Usage: make_wheel.py FOLDER. Needs auditwheel and wheel (python/requirements-package.txt).
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(*command, **options):
    return subprocess.run([sys.executable, "-m", *map(str, command)], check=True, **options)


def main() -> int:
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as fresh:
        run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", fresh, ROOT)
        (built,) = pathlib.Path(fresh).glob("whystop-*.whl")
        shown = run("auditwheel", "show", built, capture_output=True, text=True).stdout
        tag = re.search(r'platform tag:\s+"(\w+)"', shown)
        if tag is None or not tag[1].startswith("manylinux"):
            print(f"no manylinux wheel:\n{shown}", file=sys.stderr)
            return 1
        run("wheel", "tags", "--remove", "--platform-tag", tag[1], built, stdout=subprocess.DEVNULL)
        (named,) = pathlib.Path(fresh).glob("whystop-*.whl")
        target = folder / named.name
        target.write_bytes(named.read_bytes())
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
