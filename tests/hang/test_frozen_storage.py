"""A file system that stopped answering: a real one, in a file, mounted and frozen. Needs root and loop devices."""

import contextlib
import shutil
import subprocess
import sys

import pytest
from conftest import root, told

WRITE = """import sys
def save(path, mode):
    with open(path, mode, buffering=0) as file:
        file.write(b"x" * 4096)
print("saving", flush=True)
save(*sys.argv[1:])
print("saved", flush=True)
"""
TOOLS = ("mkfs.ext4", "mount", "umount", "fsfreeze")


def tool(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def frozen(tmp_path):
    """A mounted folder that lets nobody write; thawed and gone afterwards, else whoever waits there could never be killed."""
    if not all(shutil.which(name) for name in TOOLS):
        pytest.skip("no tools to make and freeze a file system")
    image, folder = tmp_path / "image", tmp_path / "scratch"
    folder.mkdir()
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    if not tool("mkfs.ext4", "-q", image) or not tool("mount", "-o", "loop", image, folder):
        pytest.skip("this machine lets us mount nothing")
    with contextlib.ExitStack() as after:
        after.callback(tool, "umount", folder)
        (folder / "model.pt").write_bytes(b"x")
        if not tool("fsfreeze", "-f", folder):
            pytest.skip("this machine lets us freeze nothing")
        after.callback(tool, "fsfreeze", "-u", folder)
        yield folder


@pytest.mark.parametrize("name, mode, line", [("model.pt", "r+b", 4), ("new.pt", "wb", 3)], ids=["write", "open"])
def test_a_file_system_that_is_frozen(live, frozen, name, mode, line):
    program = live.work / "train.py"
    program.write_text(WRITE, encoding="utf-8")
    live.start(sys.executable, program, frozen / name, mode)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "storage-stall"), told(root(verdict))
    assert str(frozen / name) in told(root(verdict)) and f"train.py:{line} in save" in told(root(verdict))
    assert "blocked inside the kernel" in told(root(verdict))
    assert tool("fsfreeze", "-u", frozen)
    after = live.finish()
    assert after["outcome"] == "completed" and live.process.returncode == 0
