"""`whystop install-hook`: the probe in Pythons that heed neither PYTHONPATH nor the user's folder."""

import json
import os
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


def test_no_variable_decides_what_an_isolated_python_executes(watched, python, tmp_path):
    """`-I` means that the environment is not trusted: the hook executes what was there when it was installed, nothing else."""
    install(python)
    marker = tmp_path / "executed"
    evil = tmp_path / "evil"
    for name in ("from_pth.py", "sitecustomize.py", "whystop_probe/__init__.py", "whystop_probe/start.py", "bootstrap/from_pth.py", "bootstrap/sitecustomize.py"):
        (evil / name).parent.mkdir(parents=True, exist_ok=True)
        (evil / name).write_text(f"open({str(marker)!r}, 'a').write(__name__)\ndef start(): pass\n")
    given = json.loads(watched.run(sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))").done.stdout)
    ours = [name for name in given if name.startswith("WHYSTOP") or given[name] != os.environ.get(name)]
    assert "WHYSTOP_RING_DIR" in ours
    hostile = {**os.environ, **{name: str(evil) for name in [*ours, "PYTHONPATH", "WHYSTOP_BOOTSTRAP", "WHYSTOP_PYTHON", "WHYSTOP_HOME"]}}
    for folder in (tmp_path, evil):
        done = subprocess.run([python, "-I", "-c", STARTED], capture_output=True, check=True, timeout=TIMEOUT, env=hostile, cwd=folder)
        assert done.stdout in (b"True\n", b"False\n")
    assert not marker.exists()
    # Nor what lies beside it later: the line names one file.
    assert str(evil) not in next((python.parent.parent / "lib").glob("python*/site-packages/whystop.pth")).read_text()
