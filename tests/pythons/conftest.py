"""All CPythons from 3.9 on that are found on this machine: on PATH, of pyenv, and those that WHYSTOP_PYTHONS names (separated by ":")."""

import glob
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHYSTOP = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve() / "whystop"
TIMEOUT = 240  # Seconds after which the test itself hangs; no test depends on how long anything takes.
ASK = "import sys; print('%d.%d.%d' % sys.version_info[:3] + ('t' if 't' in sys.abiflags else ''), sys.implementation.name, sys.prefix)"


def find_pythons() -> dict:
    """By version and place: "3.13.5t of /usr". A link to one that is there already is left out."""
    named = [path for path in os.environ.get("WHYSTOP_PYTHONS", "").split(":") if path]
    on_path = [shutil.which(f"python3.{minor}{build}") for minor in range(9, 20) for build in ("", "t")]
    found = {}
    for path in [*named, *filter(None, on_path), *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")))]:
        asked = subprocess.run([path, "-I", "-c", ASK], capture_output=True, text=True, check=False)
        version, kind, prefix = (asked.stdout.split(maxsplit=2) + ["", "", ""])[:3]
        if asked.returncode == 0 and kind == "cpython" and int(version.split(".")[1]) >= 9:
            found.setdefault(f"{version} of {prefix.strip()}", path)
    return found


PYTHONS = find_pythons()


class Python:
    """One of them."""

    def __init__(self, name: str):
        self.path = PYTHONS[name]
        self.version = name.split()[0]
        self.minor = int(self.version.split(".")[1])
        self.free_threaded = self.version.endswith("t")


@pytest.fixture(params=PYTHONS, ids=lambda name: name.replace("/", "-"))
def python(request) -> Python:
    return Python(request.param)
