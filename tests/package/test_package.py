"""What a user installs: the wheel and the Debian package in places of their own, with the README's commands run from there."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILING = "for step in range(1, 31):\n    print(f'step {step}/40 loss {1 / step:.3f}')\nraise ValueError('the 31st batch is empty')\n"


def call(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    return done


def make(*command, cwd=ROOT):
    done = call(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel, built as `make wheel` does it: the whole program once more, so only in `make test-all`."""
    if not os.environ.get("WHYSTOP_ALL"):
        pytest.skip("the wheel is built by make test-all only")
    folder = tmp_path_factory.mktemp("wheel")
    make(sys.executable, ROOT / "tools" / "make_wheel.py", folder)
    (built,) = folder.glob("whystop-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A clean environment with nothing in it but the wheel."""
    folder = tmp_path_factory.mktemp("clean") / "an environment"
    venv.create(folder, with_pip=True)
    make(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", wheel)
    return folder / "bin"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The Debian package, unpacked beside the system instead of into it."""
    make("cpack", "--config", ROOT / "build" / "CPackConfig.cmake", "-B", tmp_path_factory.getbasetemp() / "deb")
    (package,) = (tmp_path_factory.getbasetemp() / "deb").glob("whystop_*.deb")
    folder = tmp_path_factory.mktemp("root")
    make("dpkg-deb", "-x", package, folder)
    return folder / "usr" / "bin"


def judge(whystop, python, folder):
    """Runs the README's two commands on a program that fails in its 31st step."""
    (folder / "train.py").write_text(FAILING)
    environment = {**os.environ, "WHYSTOP_HOME": str(folder / "home")}
    environment.pop("PYTHONPATH", None)
    ran = call(whystop, "run", "--", python, "train.py", cwd=folder, env=environment)
    assert ran.returncode == 1 and "the 31st batch is empty" in ran.stderr
    told = call(whystop, "why", "--json", cwd=folder, env=environment)
    assert told.returncode == 1, told.stderr
    return json.loads(told.stdout), environment


@pytest.mark.parametrize("kind", ["installed", "unpacked"])
def test_the_readmes_commands_work_from_a_package(kind, request, tmp_path):
    folder = request.getfixturevalue(kind)
    python = folder / "python" if (folder / "python").exists() else sys.executable
    verdict, environment = judge(folder / "whystop", python, tmp_path)
    assert verdict["outcome"] == "raised"
    assert "the 31st batch is empty" in json.dumps(verdict)
    doctor = call(folder / "whystop", "doctor", env=environment)
    assert doctor.returncode == 0
    assert f"{folder.parent}/share/whystop/python/bootstrap" in doctor.stdout
    for shown in ("bash-completion/completions/whystop", "zsh/site-functions/_whystop",
                  "fish/vendor_completions.d/whystop.fish", "man/man1/whystop.1"):
        assert "whystop" in (folder.parent / "share" / shown).read_text()


def test_the_probe_of_the_package_is_loaded_with_its_extension(installed, tmp_path):
    inside = "import sys; print(getattr(sys, '_whystop_started', False)); from whystop_probe.core import ring; print(ring.native is not None)"
    done = call(installed / "whystop", "run", "--quiet", "--dir", tmp_path / "r", "--", installed / "python", "-c", inside)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_the_wheel_asks_for_nothing_but_the_c_library(wheel):
    pytest.importorskip("auditwheel")
    shown = make(sys.executable, "-m", "auditwheel", "show", wheel).stdout
    tag = re.search(r"manylinux_\d+_\d+_\w+", shown)
    assert tag and wheel.name.endswith(f"-py3-none-{tag[0]}.whl"), "pip must refuse it where the program cannot start"
    assert "libstdc++" not in shown


def test_a_c_program_finds_the_library_by_cmake_and_by_pkg_config(tmp_path):
    prefix, example = tmp_path / "a prefix", ROOT / "examples" / "minimal"
    make("cmake", "--install", ROOT / "build", "--prefix", prefix)
    make("cmake", "-S", example, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    make("cmake", "--build", tmp_path / "build")
    make(prefix / "bin" / "whystop", "run", "--quiet", "--dir", tmp_path / "r", "--", tmp_path / "build" / "train")
    verdict = json.loads(make(prefix / "bin" / "whystop", "why", "--json", tmp_path / "r").stdout)
    assert (verdict["outcome"], verdict["progress"]["epochs_planned"]) == ("completed", 20)
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config here")
    flags = make("env", f"PKG_CONFIG_PATH={prefix}/lib/pkgconfig", "pkg-config", "--cflags", "--libs", "whystop").stdout
    make("g++", example / "train.cc", *shlex.split(flags), "-o", tmp_path / "train")
