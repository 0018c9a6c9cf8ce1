"""The bootstrap: present where training happens, absent everywhere else, and never in the way."""

import glob
import os
import subprocess

import pytest

from conftest import PYTHON_FOLDER

BOOTSTRAP = os.path.join(PYTHON_FOLDER, "bootstrap")


def test_leaves_no_trace_on_the_import_path(run):
    text = "import sys; print(sys.path)"
    assert run("-c", text).out == run("-c", text, probe=False).out


def test_imports_nothing_heavy_before_torch(run):
    text = "import sys; print(sorted(m for m in sys.modules if not m.startswith('whystop')))"
    with_probe = set(eval(run("-c", text).out))
    assert with_probe - set(eval(run("-c", text, probe=False).out)) == {"sitecustomize"}


def test_chains_an_existing_sitecustomize(run, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import sys; sys.their_sitecustomize = __file__\n")
    environment = {"PYTHONPATH": os.pathsep.join([BOOTSTRAP, str(theirs)])}
    text = "import sys, sitecustomize; print(sys.their_sitecustomize == sitecustomize.__file__, getattr(sys, '_whystop_started', False))"
    got = run("-c", text, first_on_path=environment["PYTHONPATH"])
    assert got.out == "True True\n"


def test_a_failing_sitecustomize_fails_as_without_us(run, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import no_such_module_at_all\n")
    bare = run("-c", "print(1)", probe=False, first_on_path=str(theirs))
    with_probe = run("-c", "print(1)", first_on_path=os.pathsep.join([BOOTSTRAP, str(theirs)]))
    assert (with_probe.code, with_probe.out) == (bare.code, bare.out)
    assert "no_such_module_at_all" in with_probe.err


@pytest.mark.parametrize("arguments", [("-m", "pip", "--version"), ("-c", "from multiprocessing.resource_tracker import main; import sys; print(getattr(sys, '_whystop_started', 0))")])
def test_is_dormant_in_helpers(run, arguments):
    got = run(*arguments)
    assert got.code == 0
    assert got.records == []


def test_who_only_asks_whether_torch_is_there_does_not_hide_it(run, script):
    """As transformers does when it is imported before torch."""
    program = script(
        """
import importlib.util
assert importlib.util.find_spec("torch") is not None
import torch
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    weight.square().sum().backward()
    optimizer.step()
"""
    )
    assert len(run(program).losses()) == 3


def test_a_program_without_torch_makes_no_ring(run):
    got = run("-c", "print('hello')")
    assert (got.out, got.err, got.records) == ("hello\n", "", [])


def test_an_uncaught_exception_is_recorded_and_printed_as_ever(run, script):
    path = script("def inner():\n    raise ValueError('bad thing')\n\ntry:\n    {}['x']\nexcept KeyError:\n    inner()\n")
    bare, got = run(path, probe=False), run(path)
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    seen = got.one("exception")
    assert (seen["type"], seen["message"], seen["first_type"]) == ("ValueError", "bad thing", "KeyError")
    assert seen["ended_process"] == 1
    last = seen["frames"].splitlines()[-1].split("\t")
    assert last == [path, "2", "inner", "1", "raise ValueError('bad thing')"]


def other_pythons():
    return sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")))


@pytest.mark.parametrize("python", other_pythons())
def test_does_no_harm_on_any_python(python, tmp_path):
    environment = dict(os.environ, PYTHONPATH=BOOTSTRAP, WHYSTOP_RING_DIR=str(tmp_path))
    got = subprocess.run([python, "-c", "print('fine')"], env=environment, capture_output=True, text=True, check=False)
    assert (got.returncode, got.stdout, got.stderr) == (0, "fine\n", "")


def test_a_module_of_the_user_with_our_name_is_the_users(run, script, tmp_path):
    """Nothing that the probe brings may stand before what the program calls whystop."""
    (tmp_path / "whystop.py").write_text("mine = 'the user\\'s own'\n")
    path = script("import whystop\nprint(whystop.mine, whystop.__file__)\n")
    bare, got = run(path, probe=False), run(path)
    assert bare.out.startswith("the user's own")
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
