"""Programs of packages start on an older C library than this machine's (src/portable/old_glibc.c, tools/lower_glibc.py)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDEST = (2, 31)
OLDEST_FOR_THE_JOB = (2, 17)
# What an old C library does otherwise: constructors, threads, files, exceptions, random numbers, names of signals, dlopen.
PROGRAM = r"""
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>
struct Early { int set; Early() : set(7) {} } early;
int main(int count, char** words) {
  int seen = 0;
  std::thread([&] { try { throw std::runtime_error("thrown"); } catch (const std::exception& error) { seen = std::strlen(error.what()); } }).join();
  std::mutex lock; std::condition_variable wake; std::unique_lock held(lock);
  wake.wait_for(held, std::chrono::milliseconds(1));
  std::ofstream("made") << "abc";
  std::filesystem::create_symlink("made", "link");
  std::random_device random;
  std::printf("%d %d %ju %d %d %s %.1f %d\n", early.set, seen, std::filesystem::file_size("made"), int(std::filesystem::is_symlink("link")),
              int(random() != random()), sigabbrev_np(SIGKILL), std::hypot(3.0, count + 3.0), int(dlopen("libnosuch.so", RTLD_NOW) == nullptr));
}
"""
TOLD = "7 6 3 1 1 KILL 5.0 1\n"


def call(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)


def lower(path):
    return call(sys.executable, ROOT / "tools" / "lower_glibc.py", path, ".".join(map(str, OLDEST)))


def newest_version(path):
    shown = call("readelf", "--version-info", "--wide", path).stdout
    return max(tuple(map(int, each.split("."))) for each in re.findall(r"GLIBC_([\d.]+)", shown))


def build(folder, text=PROGRAM):
    (folder / "program.cc").write_text(text)
    for command in (
        ("gcc", "-O2", "-fPIE", "-c", ROOT / "src" / "portable" / "old_glibc.c", "-o", folder / "old.o"),
        ("g++", "-std=c++20", "-O1", "-fPIE", "-static-libstdc++", "-static-libgcc", folder / "program.cc", folder / "old.o", "-Wl,--wrap=__libc_start_main",
         "-Wl,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2", "-o", folder / "program"),
    ):
        done = call(*command)
        assert done.returncode == 0, done.stderr
    return folder / "program"


@pytest.fixture(scope="module")
def old_library(tmp_path_factory):
    """The folder of Debian 11's C library, 2.31, from where this machine has its packages."""
    if not os.environ.get("WHYSTOP_ALL"):
        pytest.skip("another C library is fetched by make test-all only")
    folder = tmp_path_factory.mktemp("old")
    sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").glob("sources.list*/*.sources"))
    sources += "".join(path.read_text() for path in pathlib.Path("/etc/apt").glob("sources.list"))
    found = re.search(r"(?m)^URIs:\s*(\S+)|^deb\s+(?:\[[^\]]*\]\s+)?(\S+)", sources)
    if not found:
        pytest.skip("where this machine has its packages from is not known")
    (folder / "list").write_text(f"deb [trusted=yes] {found[1] or found[2]} bullseye main\n")
    (folder / "lists" / "partial").mkdir(parents=True)
    apt = ["apt-get", "-o", f"Dir::Etc::sourcelist={folder}/list", "-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={folder}/lists"]
    call(*apt, "update")
    done = call(*apt, "download", "libc6/bullseye", cwd=folder)
    packages = list(folder.glob("libc6_2.31*.deb"))
    if not packages:
        pytest.skip(f"Debian 11's C library is not to be had: {done.stderr[-300:]}")
    assert call("dpkg-deb", "-x", packages[0], folder / "root").returncode == 0
    (loader,) = (folder / "root").glob("lib/*/ld-2.31.so")
    return loader


def with_library(loader, program, *words, **options):
    return call(loader, "--library-path", loader.parent, program, *words, **options)


def test_a_program_does_the_same_with_older_versions(tmp_path):
    program = build(tmp_path)
    before = newest_version(program)
    done = lower(program)
    assert done.returncode == 0, done.stderr
    assert newest_version(program) <= OLDEST and before >= newest_version(program)
    assert call(program, cwd=tmp_path).stdout == TOLD


def test_what_the_old_library_does_not_have_is_named(tmp_path):
    program = build(tmp_path, '#include <cstdlib>\nint main() { char out[4]; arc4random_buf(out, sizeof out); return 0; }\n')
    before = program.read_bytes()
    done = lower(program)
    assert done.returncode == 1 and "arc4random_buf (GLIBC_2.36)" in done.stderr
    assert program.read_bytes() == before


def test_what_is_no_program_is_refused(tmp_path):
    (tmp_path / "text").write_text("no program")
    done = lower(tmp_path / "text")
    assert done.returncode == 1 and "no 64-bit" in done.stderr


@pytest.mark.parametrize("name", ["libwhystop.so", "python/whystop_probe/core/_native.abi3.so"])
def test_what_is_loaded_into_the_job_asks_for_little(name):
    if not (ROOT / "build" / name).exists():
        pytest.skip("not built: no headers of Python here")
    assert newest_version(ROOT / "build" / name) <= OLDEST_FOR_THE_JOB


def test_a_program_starts_with_the_old_library(old_library, tmp_path):
    program = build(tmp_path)
    assert lower(program).returncode == 0
    done = with_library(old_library, program, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (TOLD, 0), done.stderr


def test_the_wheels_program_judges_with_the_old_library(old_library, tmp_path):
    made = call(sys.executable, ROOT / "tools" / "make_wheel.py", tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,) = tmp_path.glob("whystop-*.whl")
    tag = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    assert tag and tuple(map(int, tag.groups())) <= OLDEST, wheel.name
    shutil.unpack_archive(wheel, tmp_path / "wheel", "zip")
    (program,) = (tmp_path / "wheel").glob("*.data/scripts/whystop")
    program.chmod(0o755)
    (tmp_path / "train.log").write_text("".join(f"step {each}/40 loss {1 / each:.3f}\n" for each in range(1, 31)) + "Killed\n")
    done = with_library(old_library, program, "why", "--json", tmp_path / "train.log")
    assert done.returncode == 1 and '"outcome": "killed"' in done.stdout, done.stderr
