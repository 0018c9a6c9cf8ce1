"""A job that needs more memory than its control group may hold and lives in swap: real swap, for that job alone.

With WHYSTOP_ALL=1, as root, where the kernel lets us turn on a swap file and make a group: both are taken away afterwards.
"""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import told

PROGRAM = """import multiprocessing, os, random, time
def walk(number, queue):
    block = bytearray(os.urandom(1 << 20) * 40)
    while True:
        for _ in range(2000):
            at = random.randrange(0, len(block), 4096)
            block[at] = (block[at] + 1) & 255
        queue.put(number)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue(4)
    workers = [context.Process(target=walk, args=(number, queue), daemon=True) for number in range(4)]
    for worker in workers:
        worker.start()
    end = time.monotonic() + 75
    step = 0
    while time.monotonic() < end:
        queue.get()
        step += 1
        print("step", step, "loss", 1 / step, flush=True)
    for worker in workers:
        worker.kill()
"""
LIMIT = 48 << 20
GROUPS = pathlib.Path("/sys/fs/cgroup")


@pytest.fixture
def swap(tmp_path):
    path = tmp_path / "swap"
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 300 << 20)
    path.chmod(0o600)
    made = subprocess.run(["mkswap", path], capture_output=True, check=False).returncode == 0
    if not made or subprocess.run(["swapon", path], capture_output=True, check=False).returncode != 0:
        pytest.skip("the kernel does not let us turn on swap here")
    yield path
    subprocess.run(["swapoff", path], check=True)


@pytest.fixture
def groups():
    """Folders of a new group with the limit: one of v2, or one of v1 for the limit and one of v2 for the pressure."""
    name = f"whystop-test-{os.getpid()}"
    v1 = (GROUPS / "memory").is_dir()
    limited = GROUPS / "memory" / name if v1 else GROUPS / name
    made = [limited, GROUPS / "unified" / name] if v1 else [limited]
    try:
        for folder in made:
            folder.mkdir()
        (limited / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text(str(LIMIT))
        (made[-1] / "memory.pressure").read_text()
    except OSError as error:
        for folder in made:
            folder.is_dir() and folder.rmdir()
        pytest.skip(f"no group with a limit and its own pressure can be made here: {error}")
    yield made
    for folder in made:
        folder.rmdir()


@pytest.mark.skipif("WHYSTOP_ALL" not in os.environ or os.geteuid() != 0, reason="takes more than a minute and needs root; with WHYSTOP_ALL=1")
def test_a_job_that_lives_in_swap(live, swap, groups):
    program = live.work / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    enter = "".join(f"echo $$ > '{folder}/cgroup.procs'; " for folder in groups)
    live.start("sh", "-c", f"{enter} exec '{sys.executable}' '{program}'", hang_after=None)
    verdict = live.finish()
    slow = {cause["id"]: told(cause) for cause in verdict["causes"]}
    assert "swap-thrash" in slow, (live.seen("hang"), verdict["causes"], live.process.returncode, live.output[1][-500:])
    assert live.seen("hang") == []
