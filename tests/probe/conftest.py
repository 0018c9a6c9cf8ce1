"""Runs scripts under the probe, as `whystop run` would, and reads what they wrote."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON_FOLDER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")
NATIVE_FOLDER = os.path.join(os.path.dirname(PYTHON_FOLDER), "build", "python", "whystop_probe", "core")
SCRIPTS = os.path.join(HERE, "scripts")
sys.path.insert(0, HERE)
sys.path.insert(1, PYTHON_FOLDER)
sys.path.insert(2, os.path.dirname(HERE))  # What all folders of tests share.

from ring_reader import read_directory  # noqa: E402


class Run:
    """A finished process: its streams, its exit code and its records."""

    def __init__(self, process, records):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.records = records

    def observations(self, kind):
        return [record["attributes"] | {"step": record["step"]} for record in self.records if record["record"] == "observation" and record["kind"] == kind]

    def one(self, kind):
        found = self.observations(kind)
        assert len(found) == 1, f"{len(found)} of {kind}: {found}"
        return found[0]

    def of(self, record):
        return [item for item in self.records if item["record"] == record]

    def losses(self):
        return [item["loss"] for item in self.of("step")]


@pytest.fixture
def run(tmp_path):
    """run(arguments, probe=True, ...) -> Run. Without the probe nothing of it is on the path."""

    def start(*arguments, probe=True, python=sys.executable, environment=(), first_on_path=None, timeout=240):
        rings = tmp_path / f"rings{len(list(tmp_path.iterdir()))}"
        rings.mkdir()
        variables = {key: value for key, value in os.environ.items() if not key.startswith("WHYSTOP") and key != "PYTHONPATH"}
        variables.update(environment)
        path = [first_on_path] if first_on_path else []
        if probe:
            variables["WHYSTOP_RING_DIR"] = str(rings)
            path = path + [os.path.join(PYTHON_FOLDER, "bootstrap")] if not first_on_path else path
            if os.path.isdir(NATIVE_FOLDER):
                variables["WHYSTOP_NATIVE_DIR"] = NATIVE_FOLDER
        if path:
            variables["PYTHONPATH"] = os.pathsep.join(path + [variables.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        process = subprocess.run(
            [python, *map(str, arguments)], env=variables, capture_output=True, text=True, timeout=timeout, cwd=tmp_path, check=False
        )
        return Run(process, read_directory(str(rings)))

    return start


@pytest.fixture
def script(tmp_path):
    """Writes a script and returns its path."""

    def write(text, name="train.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write
