"""Who sent SIGTERM, seen from inside; and that nothing else about the signal changes."""

import signal

from conftest import PYTHON_FOLDER

SENT = """
import os, signal, subprocess, sys
import torch
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, flush=True)
{setup}
sender = subprocess.Popen(["sh", "-c", "kill -TERM %d; read line" % os.getpid()], stdin=subprocess.PIPE)
{wait}
print("still here", flush=True)
sender.stdin.close()
sender.wait()
"""


def test_the_sender_of_sigterm_is_on_record(run, script):
    path = script(SENT.format(setup="", wait="signal.pause()"))
    bare, got = run(path, probe=False), run(path)
    assert (bare.code, bare.out) == (-signal.SIGTERM, "True\n")
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    seen = got.one("signal")
    assert (seen["signal"], seen["from_kernel"], seen["sender_name"]) == (signal.SIGTERM, 0, "sh")
    assert seen["sender_pid"] > 1


def test_a_handler_of_the_user_runs_as_ever_and_the_signal_is_on_record(run, script):
    setup = "arrived = []\nsignal.signal(signal.SIGTERM, lambda number, frame: arrived.append(number))"
    path = script(SENT.format(setup=setup, wait="while not arrived:\n    signal.pause()"))
    bare, got = run(path, probe=False), run(path)
    assert (bare.code, bare.out) == (0, "True\nstill here\n")
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert [(seen["signal"], seen["sender_name"]) for seen in got.observations("signal")] == [(signal.SIGTERM, "sh")]


def test_a_forked_child_dies_of_it_as_ever(run, script):
    path = script(
        """
import os, signal, time
import torch
child = os.fork()
if child == 0:
    signal.pause()
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    )
    got = run(path)
    assert (got.out, got.err) == (f"-{int(signal.SIGTERM)}\n", "")
    assert got.observations("signal") == []


GUARDED = """
import ctypes, mmap, os, resource, signal
import torch
from whystop_probe.core import channel, ring
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
page, size = mmap.PAGESIZE, max(2 * mmap.PAGESIZE + 2048, libc.getauxval(51) + 4096)
size = -(-size // page) * page
memory = libc.mmap(None, 8 * page + size, 3, 0x22, -1, 0)
libc.mprotect(memory, 8 * page, 0)  # Whatever needs more than the stack has meets this.
class Stack(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
assert libc.sigaltstack(ctypes.byref(Stack(memory + 8 * page, 0, size)), None) == 0
print(ring.native is not None, flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_the_witness_fits_on_a_small_stack(run, script, tmp_path):
    """Handlers run on the alternate stack that faulthandler made, of some ten KiB: one that needs more crashes the process."""
    small = tmp_path / "small"
    (small / "torch").mkdir(parents=True)
    (small / "torch" / "__init__.py").write_text("")
    path = script("import sys\nsys.path.insert(0, %r)\nsys.path.append(%r)\n" % (str(small), PYTHON_FOLDER) + GUARDED)
    got = run(path)
    assert (got.code, got.err) == (-signal.SIGTERM, "")
    if got.out == "True\n":
        assert got.one("signal")["signal"] == signal.SIGTERM
