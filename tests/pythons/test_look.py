"""`whystop attach` on every Python of this machine: stacks with their lines, read from outside, who holds the GIL, and what changes."""

import contextlib
import json
import subprocess
import time

import pytest
from conftest import PYTHONS, TIMEOUT, WHYSTOP

FAR = "\n" * 300  # More lines than one byte of a line table can say.
NESTED = f"""import threading
lock, never = threading.Lock(), threading.Event()
class Keeper:
    def keep(self):
        with lock:
            started.set()
            never.wait()
def deep(depth):
    if depth:
        return deep(
            depth - 1
        )
    return list(rows())
def rows():{FAR}
    yield from [1]
    for number in (2, 3):
        näher(number)
        yield number
def näher(number):
    lock.acquire()
started = threading.Event()
threading.Thread(target=Keeper().keep, daemon=True).start()
started.wait()
print("on", flush=True)
deep(3)
"""
AFTER = 14 + 300
HELD = """import re, threading
def other():
    while True:
        pass
def parse(text):
    return re.match(r"(a+)+$", text)
threading.Thread(target=other, daemon=True).start()
print("on", flush=True)
parse("a" * 64 + "b")
"""
ENDS = """import time
class Upload:
    def __del__(self, sleep=time.sleep):
        sleep(1000)
upload = Upload()
print("on", flush=True)
"""
SAME = "print('on', flush=True)\ndef spin():\n    while True:\n        pass\nspin()\n"
COUNTS = "print('on', flush=True)\ndef spin():\n    turns = 1 << 40\n    while True:\n        turns += 1\nspin()\n"
COUNTS_IN_MODULE = "print('on', flush=True)\nturns = 1 << 40\nwhile True:\n    turns += 1\n"


@contextlib.contextmanager
def running(python, tmp_path, source):
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    with subprocess.Popen([python.path, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"on\n"
        try:
            yield process.pid
        finally:
            process.kill()


def attach(pid, *options) -> dict:
    shown = subprocess.run([WHYSTOP, "attach", str(pid), "--json", *options], capture_output=True, timeout=TIMEOUT, check=False)
    return json.loads(shown.stdout)


def look_until(pid, is_there, *options) -> dict:
    """The look at which the program is where it stays: after its line it has a few steps to make."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        told = attach(pid, *(options or ("--looks", "1")))
        if is_there(told["processes"][0]) or time.monotonic() > deadline:
            return told
        time.sleep(0.2)


def places(thread) -> list:
    return [(frame["line"], frame["function"].split(".")[-1]) for frame in thread["frames"] if frame["file"].endswith("program.py")]


def test_stacks_and_lines_of_all_threads(python, tmp_path):
    inside = [(AFTER + 11, "<module>"), (10, "deep"), (10, "deep"), (10, "deep"), (13, "deep"), (AFTER + 3, "rows"), (AFTER + 6, "näher")]
    with running(python, tmp_path, NESTED) as pid:
        look = look_until(pid, lambda process: inside in [places(thread) for thread in process["threads"]])
        told = attach(pid, "--interval", "0.2")
    process = look["processes"][0]
    assert process["python"] == f"3.{python.minor}" and process["unseen"] == ""
    main, keeper = process["threads"]
    assert (main["tid"], places(main)) == (pid, inside)
    assert places(keeper) == [(7, "keep")] and keeper["tid"] != pid
    assert not main["holds_gil"] and not keeper["holds_gil"]
    assert told["verdict"]["causes"][0]["id"] == "lock-held", told["verdict"]
    assert told["processes"][0]["same_frames"] and told["processes"][0]["same_variables"]


def test_who_holds_the_gil(python, tmp_path):
    with running(python, tmp_path, HELD) as pid:
        look = look_until(pid, lambda process: (6, "parse") in places(process["threads"][0]) and (python.free_threaded or process["threads"][0]["holds_gil"]))
    main, other = look["processes"][0]["threads"]
    assert places(main) == [(9, "<module>"), (6, "parse")]
    assert (main["holds_gil"], other["holds_gil"]) == (not python.free_threaded, False)
    assert [name for _, name in places(other)] == ["other"]


def test_an_interpreter_that_shuts_down(python, tmp_path):
    with running(python, tmp_path, ENDS) as pid:
        look = look_until(pid, lambda process: process["finalizing"])
    assert look["processes"][0]["finalizing"]


@pytest.mark.parametrize("source, same", [(SAME, True), (COUNTS, False), (COUNTS_IN_MODULE, False)], ids=["circle", "counts", "counts in module"])
def test_whether_variables_change(python, tmp_path, source, same):
    with running(python, tmp_path, source) as pid:
        function = "spin" if "spin" in source else "<module>"
        look_until(pid, lambda process: process["threads"][0]["frames"] and places(process["threads"][0])[-1][1] == function)
        told = attach(pid, "--interval", "0.2")
    assert (told["processes"][0]["same_frames"], told["processes"][0]["same_variables"]) == (True, same)


def test_more_than_one_version_was_tried():
    minors = {name.split(".")[1] for name in PYTHONS}
    if len(minors) == 1:
        pytest.skip(f"only {', '.join(PYTHONS)} is on this machine; WHYSTOP_PYTHONS names others")
