"""Jobs that stand still, each for a reason of its own: noticed while they do, named with the line, and still so afterwards."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import WHYSTOP, root, told

SPIN = """import sys
print("start", flush=True)
def spin():
    while True:
        pass
spin()
"""
REGEX = """import re
print("start", flush=True)
def parse(text):
    return re.match(r"(a+)+$", text)
parse("a" * 64 + "b")
"""
LOCK = """import threading
lock = threading.Lock()
def work():
    lock.acquire()
    lock.acquire()
print("start", flush=True)
work()
"""
SHUTDOWN = """import threading
never = threading.Event()
def upload():
    never.wait()
threading.Thread(target=upload).start()
print("done", flush=True)
"""
AT_EXIT = """import atexit, queue
uploads = queue.Queue()
def flush():
    uploads.get()
atexit.register(flush)
print("done", flush=True)
"""


@pytest.mark.parametrize(
    "source, cause, place",
    [(SPIN, "busy-loop", "in spin"), (REGEX, "busy-loop", "program.py:4 in parse"),
     (LOCK, "lock-held", "program.py:5 in work"), (SHUTDOWN, "shutdown-hang", "in upload"),
     (AT_EXIT, "shutdown-hang", "does not return: train program.py:4 in flush")],
    ids=["endless loop", "endless C call", "lock taken twice", "shutdown", "at exit"],
)
def test_a_standstill_is_named_with_its_line_live_and_afterwards(live, source, cause, place):
    live.python(source)
    verdict = live.until_hung()
    assert verdict["outcome"] == "hung"
    assert root(verdict)["id"] == cause, told(root(verdict))
    assert place in told(root(verdict))
    after = live.end()
    assert after["outcome"] == "hung" and after["exit"]["signal"] == signal.SIGKILL
    assert root(after)["id"] == cause
    assert "external-sigkill" in [one["id"] for one in after["causes"] if one["role"] == "consequence"]


def test_a_prompt_that_nobody_answers(live):
    ours, theirs = os.openpty()
    live.python("answer = input('overwrite? ')\n", stdin=theirs)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "waiting-for-input")
    assert "program.py:1" in told(root(verdict)) and "/dev/pts/" in told(root(verdict))
    os.write(ours, b"yes\n")
    after = live.finish()
    assert after["outcome"] == "completed" and live.process.returncode == 0
    assert not [one for one in after["causes"] if one["fault"]]


def test_a_stopped_process(live):
    live.python("import time\nprint('start', flush=True)\nwhile True:\n    print('.', end='', flush=True)\n    time.sleep(0.05)\n")
    os.kill(live.job_pid(), signal.SIGSTOP)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "process-stopped")


def test_a_file_that_does_not_answer(live, tmp_path):
    fifo = tmp_path / "data.bin"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    live.python(f"def load(path):\n    with open(path, 'rb') as file:\n        return file.read()\nload({str(fifo)!r})\n")
    verdict = live.until_hung()
    os.close(writer)
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "storage-stall")
    assert str(fifo) in told(root(verdict)) and "program.py:3 in load" in told(root(verdict))


def test_a_server_that_does_not_answer(live):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        live.python(f"import urllib.request\ndef fetch():\n    urllib.request.urlopen('http://127.0.0.1:{port}/data').read()\nfetch()\n")
        verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "network-fetch-stall")
    assert f"127.0.0.1:{port}" in told(root(verdict)) and "program.py:3 in fetch" in told(root(verdict))


LOGS = """import logging, subprocess
reader = subprocess.Popen(["sleep", "1000"], stdin=subprocess.PIPE, text=True)
logging.basicConfig(stream=reader.stdin, level=logging.INFO)
def log(step):
    logging.info("step %d %s", step, "x" * 200)
for step in range(100_000):
    log(step)
"""
PRINTS = """def log(step):
    print("step", step, "x" * 500,
          flush=True)
for step in range(100_000):
    log(step)
"""


@pytest.mark.parametrize("source, place, what", [(LOGS, "program.py:5 in log", "a pipe"), (PRINTS, "program.py:2 in log", "standard output")],
                         ids=["logger", "print"])
def test_output_that_nobody_reads(live, source, place, what):
    """The reader of the log sleeps; what is printed goes into a pipe that this test does not read."""
    live.python(source)
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "logger-stall"), told(root(verdict))
    assert place in told(root(verdict)) and "nobody reads what it writes: its write to " + what in told(root(verdict))


LOADER = """import threading
import torch
lock = threading.Lock()
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        with lock:
            return torch.zeros(2)
if __name__ == "__main__":
    lock.acquire()  # Held by a thread of the parent at the moment of the fork.
    loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2, multiprocessing_context="fork")
    print("start", flush=True)
    for batch in loader:
        pass
"""


def test_a_worker_waits_for_a_lock_that_was_taken_before_the_fork(live):
    live.python(LOADER, hang_after="3")
    verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", "dataloader-deadlock"), told(root(verdict))
    assert "program.py:8 in Data.__getitem__" in told(root(verdict)) or "program.py:8 in __getitem__" in told(root(verdict))


def test_a_hung_job_is_stopped_or_started_again_when_asked(live, tmp_path):
    live.python(SPIN, options=("--on-hang", "stop"))
    verdict = live.finish()
    assert live.process.returncode in (128 + signal.SIGTERM, 128 + signal.SIGKILL)
    assert verdict["outcome"] == "hung" and root(verdict)["id"] == "busy-loop"


def test_a_job_that_hangs_once_is_started_again(live, tmp_path):
    flag = tmp_path / "was here"
    live.python(
        f"import os, threading\nif not os.path.exists({str(flag)!r}):\n    open({str(flag)!r}, 'w').close()\n"
        "    threading.Event().wait()\nprint('second life')\n",
        options=("--on-hang", "restart"),
    )
    verdict = live.finish()
    assert live.process.returncode == 0 and b"second life" in live.output[0]
    assert verdict["outcome"] == "completed"


OTHER = """import threading, time
def wait():
    threading.Event().wait()
print("on", flush=True)
wait()
"""
UNCHANGED = ("State", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "Threads", "TracerPid")


def facts_of(pid: int) -> dict:
    """What attaching in any way would change: signals, tracer, threads, descriptors, mappings, limits."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        facts = {name: line for line in file for name in UNCHANGED if line.startswith(name + ":")}
    facts["files"] = sorted(os.listdir(f"/proc/{pid}/fd"))
    for name in ("maps", "limits", "environ"):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            facts[name] = file.read()
    return facts


def settled_facts_of(pid: int) -> dict:
    """The same once the process waits: after its last line it still has a few calls to make, and memory to map."""
    while True:
        before = facts_of(pid)
        time.sleep(0.5)
        if before == (after := facts_of(pid)) and "sleeping" in after["State"]:
            return after


def test_attach_shows_a_process_that_whystop_did_not_start_and_changes_nothing_in_it(tmp_path):
    program = tmp_path / "other.py"
    program.write_text(OTHER)
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        before = settled_facts_of(other.pid)
        shown = subprocess.run([WHYSTOP, "attach", str(other.pid), "--interval", "0.2"], capture_output=True, text=True, check=False)
        as_json = subprocess.run([WHYSTOP, "attach", str(other.pid), "--interval", "0.2", "--json"], capture_output=True, check=False)
        after = facts_of(other.pid)
        other.kill()
    assert before == after
    assert shown.returncode in (0, 1), shown.stderr
    assert "other.py:3 in wait" in shown.stdout and "Python 3" in shown.stdout and "lock-held" in shown.stdout
    assert "job resident" in shown.stdout and "machine memory" in shown.stdout and "nofile" in shown.stdout
    told_by_json = json.loads(as_json.stdout)
    assert told_by_json["verdict"]["outcome"] == "hung" and told_by_json["limits"]["nofile"] > 0
    assert {line["panel"] for line in told_by_json["resources"]} >= {"memory", "tasks"}
    assert told_by_json["processes"][0]["threads"][0]["frames"][0]["file"].endswith("other.py")
    assert told_by_json["process_resources"][0]["process.rss_bytes"] > 0


def test_why_on_a_live_run_takes_the_same_look(live):
    live.python("import time\nprint('on', flush=True)\ndef idle():\n    while True:\n        time.sleep(0.05)\nidle()\n", hang_after="200")
    live.job_pid()
    for _ in range(100):  # Until the program is where it stays; Python takes a while to start.
        shown = subprocess.run([WHYSTOP, "why", live.folder], capture_output=True, text=True, check=False)
        if "program.py:5 in idle" in shown.stdout:
            break
    assert "program.py:5 in idle" in shown.stdout and "job resident" in shown.stdout and "nofile" in shown.stdout
    assert live.verdict()["outcome"] == "running"
    after = live.end()
    shown = subprocess.run([WHYSTOP, "why", live.folder], capture_output=True, text=True, check=False)
    assert after["outcome"] == "killed" and "nofile" not in shown.stdout


TRACKER = """import socket
def finish(peer):
    return peer.recv(1)
"""
WINDOW = """import threading
def show():
    threading.Event().wait()
"""


@pytest.mark.parametrize(
    "package, module, call, cause",
    [("wandb", TRACKER, "finish", "logger-stall"), ("matplotlib", WINDOW, "show", "blocked-on-gui")],
)
def test_a_library_that_waits_for_others(live, package, module, call, cause):
    """Stand-ins for libraries that need a server or a display: what counts is whose frames are on the stack."""
    import socket

    folder = live.work / "site-packages" / package
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(module, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        live.python(
            f"import socket, sys\nsys.path.insert(0, {str(folder.parent)!r})\nimport {package}\n"
            f"peer = socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))\ndef main():\n"
            f"    {package}.{call}({'peer' if package == 'wandb' else ''})\nmain()\n"
        )
        verdict = live.until_hung()
    assert (verdict["outcome"], root(verdict)["id"]) == ("hung", cause), told(root(verdict))
    assert "program.py:6 in main" in told(root(verdict))
