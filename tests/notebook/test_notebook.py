"""A real kernel, driven as a notebook drives it: what its cells and its end are called."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

jupyter_client = pytest.importorskip("jupyter_client")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
PATIENCE = 120  # Seconds after which something hangs.


class Lab:
    """A Jupyter of its own with the recording kernel, and a home for the recordings."""

    def __init__(self, folder, monkeypatch):
        self.home = folder / "home"
        self.prefix = folder / "a prefix"
        for name, value in (("WHYSTOP_HOME", self.home), ("JUPYTER_PATH", self.prefix / "share" / "jupyter"),
                            ("IPYTHONDIR", folder / "ipython"), ("JUPYTER_RUNTIME_DIR", folder / "runtime")):
            monkeypatch.setenv(name, str(value))
        monkeypatch.delenv("PYTHONPATH", raising=False)
        self.installed = self.whystop("install-kernel", "--python", sys.executable, "--prefix", self.prefix)

    def whystop(self, *arguments):
        return subprocess.run([WHYSTOP, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)

    def run(self, *cells, **options):
        """Executes a notebook to its end or its first error, as nbclient and papermill do."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        client = nbclient.NotebookClient(notebook, kernel_name="whystop", timeout=PATIENCE, **options)
        try:
            client.execute()
        except (nbclient.exceptions.CellExecutionError, nbclient.exceptions.DeadKernelError) as error:
            return notebook, type(error).__name__
        return notebook, None

    @property
    def runs(self):
        return [json.loads(line) for line in self.whystop("runs", "--json").stdout.splitlines()]

    @property
    def verdict(self):
        return json.loads(self.whystop("why", "--json").stdout)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    return Lab(tmp_path, monkeypatch)


def roots(verdict):
    return [cause["id"] for cause in verdict["causes"] if cause["role"] == "root"]


def test_the_kernel_is_installed_and_removed(lab):
    file = lab.prefix / "share" / "jupyter" / "kernels" / "whystop" / "kernel.json"
    assert lab.installed.returncode == 0 and str(file) in lab.installed.stdout
    spec = json.loads(file.read_text())
    assert spec["argv"][:2] == [str(WHYSTOP), "run"] and "{connection_file}" in spec["argv"]
    assert "whystop" in spec["display_name"] and spec["language"] == "python"
    assert "whystop" in jupyter_client.kernelspec.KernelSpecManager().find_kernel_specs()
    assert lab.whystop("install-kernel", "--python", sys.executable, "--prefix", lab.prefix, "--remove").returncode == 0
    assert not file.exists()


def test_a_python_without_ipykernel_is_told_what_it_lacks(lab):
    done = lab.whystop("install-kernel", "--python", "/bin/true")
    assert done.returncode == 2 and "install-kernel --python" in done.stderr


def test_a_cell_that_raises_is_how_the_notebook_ended(lab):
    _, error = lab.run("x = 1", "def load():\n    raise ValueError('bad batch')", "load()")
    assert error == "CellExecutionError"
    verdict = lab.verdict
    assert verdict["outcome"] == "raised" and roots(verdict) == ["uncaught-exception"]
    text = json.dumps(verdict)
    assert "bad batch" in text and "In[2]:2 in load" in text


def test_an_error_that_was_gone_over_is_not_the_end(lab):
    _, error = lab.run("1 / 0", "x = 1", allow_errors=True)
    assert error is None
    verdict = lab.verdict
    assert (verdict["outcome"], verdict["causes"]) == ("completed", [])


def test_a_kernel_that_dies_is_seen_with_its_signal(lab):
    _, error = lab.run("import os; os.kill(os.getpid(), 9)")
    assert error == "DeadKernelError"
    verdict = lab.verdict
    assert (verdict["outcome"], verdict["exit"]["signal"]) == ("killed", 9)


def test_the_magic_tells_the_verdict_of_this_kernel(lab):
    cells = ("for step in range(1, 61):\n    print(f'step {step}/100 loss {1 / step:.4f}')", "%whystop why")
    notebook, error = lab.run(*cells)
    assert error is None
    (said,) = [output["text"] for output in notebook.cells[1].outputs if output["output_type"] == "stream"]
    assert "RUNNING" in said and "LEARNING" in said


def test_interrupt_and_restart_are_seen_as_what_they_are(lab):
    manager = jupyter_client.KernelManager(kernel_name="whystop")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        begun = client.execute("import time; print('up', flush=True); time.sleep(600)")
        while True:
            message = client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "stream" and message["parent_header"]["msg_id"] == begun:
                break
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=PATIENCE)
        while reply["parent_header"].get("msg_id") != begun:
            reply = client.get_shell_msg(timeout=PATIENCE)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        first = lab.runs
        assert len(first) == 1 and first[0]["outcome"] == "running"
        manager.restart_kernel()
        client.wait_for_ready(timeout=PATIENCE)
        assert client.execute_interactive("print(1)", timeout=PATIENCE)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    interrupted, restarted = lab.runs
    assert interrupted["run"] == first[0]["run"]
    assert (interrupted["outcome"], interrupted["cause"]) == ("interrupted", "user-interrupt")
    assert (restarted["outcome"], restarted["cause"]) == ("completed", "")
