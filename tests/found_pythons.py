"""All CPythons from 3.9 on that are found on this machine: on PATH, of pyenv, and those that WHYSTOP_PYTHONS names (separated by ":")."""

import glob
import os
import shutil
import subprocess

ASK = "import sys; print('%d.%d.%d' % sys.version_info[:3] + ('t' if 't' in sys.abiflags else ''), sys.implementation.name, sys.prefix)"


def found_pythons() -> dict:
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
