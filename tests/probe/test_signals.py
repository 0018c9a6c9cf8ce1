"""Who sent SIGTERM, seen from inside; and that nothing else about the signal changes."""

import signal

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


def test_a_handler_of_the_user_replaces_ours(run, script):
    setup = "arrived = []\nsignal.signal(signal.SIGTERM, lambda number, frame: arrived.append(number))"
    path = script(SENT.format(setup=setup, wait="while not arrived:\n    signal.pause()"))
    bare, got = run(path, probe=False), run(path)
    assert (bare.code, bare.out) == (0, "True\nstill here\n")
    assert (got.code, got.out, got.err) == (bare.code, bare.out, bare.err)
    assert got.observations("signal") == []


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
