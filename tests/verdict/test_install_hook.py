"""`whystop install-hook`: the probe in Pythons that heed neither PYTHONPATH nor the user's folder."""

import json
import subprocess
import sys

import pytest
from conftest import TIMEOUT, WHYSTOP

STARTED = "import sys; print(getattr(sys, '_whystop_started', False))"


@pytest.fixture
def python(tmp_path):
    """An interpreter with packages of its own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=TIMEOUT)
    return tmp_path / "venv" / "bin" / "python"


def install(python, *more):
    done = subprocess.run([WHYSTOP, "install-hook", "--json", "--python", python, *more], capture_output=True, timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)


def test_isolated_python_has_the_probe_only_with_the_hook_and_under_run(watched, python):
    command = (python, "-I", "-c", STARTED)
    assert watched.run(*command).done.stdout == b"False\n"
    unknown = " ".join(item["what"] for item in watched.verdict["unknowns"])
    assert "-I" in unknown and "probe was not loaded" in unknown
    assert install(python)["done"] == "wrote"
    watched.folder = watched.folder.with_name("second")
    assert watched.run(*command).done.stdout == b"True\n"
    assert subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT).stdout == b"False\n"
    assert install(python, "--remove")["done"] == "removed"
    watched.folder = watched.folder.with_name("third")
    assert watched.run(*command).done.stdout == b"False\n"


def test_the_hook_starts_the_probe_once_beside_the_usual_way(watched, python):
    install(python)
    text = "import sys; print(sum(type(finder).__module__ == 'whystop_probe.core.import_hook' for finder in sys.meta_path), sys.path[1:])"
    bare = subprocess.run([python, "-c", text], capture_output=True, check=True, timeout=TIMEOUT).stdout
    assert watched.run(python, "-c", text).done.stdout == bare.replace(b"0 [", b"1 [", 1)


def test_an_interpreter_that_is_none_is_refused(tmp_path):
    done = subprocess.run([WHYSTOP, "install-hook", "--python", tmp_path / "none"], capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 2
    assert b"cannot ask" in done.stderr
