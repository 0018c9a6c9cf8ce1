"""Jobs that end by a signal: who sent it, and what it was not."""

import os
import pty
import signal
import subprocess
import sys

import pytest
from conftest import TIMEOUT, WHYSTOP


def evidence(verdict: dict, cause: str) -> str:
    found = [one for one in verdict["causes"] if one["id"] == cause]
    return " ".join(item["text"] for item in found[0]["evidence"])


def test_sigkill_by_hand_is_not_called_out_of_memory(watched):
    watched.run("sh", "-c", "sleep 0.3; kill -9 $$")
    verdict = watched.verdict
    assert watched.done.returncode == 137
    assert verdict["outcome"] == "killed"
    assert verdict["exit"]["signal"] == signal.SIGKILL
    assert watched.roots == ["external-sigkill"]
    memory = [one for one in verdict["ruled_out"] if one["what"] == "memory"]
    assert memory and "peak" in memory[0]["figure"], verdict["ruled_out"]


@pytest.mark.parametrize(
    "name, cause",
    [("SEGV", "segfault"), ("BUS", "bus-error"), ("ABRT", "native-abort"), ("ILL", "illegal-instruction"),
     ("FPE", "sigfpe")],
)
def test_crash_signals_are_told_apart(watched, name, cause):
    watched.run("sh", "-c", f"kill -{name} $$")
    assert watched.done.returncode == 128 + getattr(signal, f"SIG{name}")
    assert watched.verdict["outcome"] == "crashed"
    assert watched.roots == [cause]


def test_a_real_segfault_names_the_kernel_line_where_it_can_be_read(watched):
    watched.python("import ctypes; ctypes.string_at(8)")
    assert watched.done.returncode == 139
    assert watched.roots == ["segfault"]


def test_a_crash_behind_a_shell_is_seen(watched):
    watched.run("sh", "-c", f"'{sys.executable}' -c 'import os; os.abort()'; exit $?")
    assert watched.done.returncode == 134
    assert watched.roots == ["native-abort"]



def test_timeout_is_named(watched):
    watched.run("timeout", "0.5", "sleep", "30")
    assert watched.done.returncode == 124
    assert watched.verdict["outcome"] in ("killed", "stopped-early")
    assert watched.roots == ["wrapper-timeout"]


def test_cpu_limit_is_named(watched):
    watched.run("sh", "-c", "ulimit -S -t 1; while :; do :; done")
    assert watched.done.returncode == 128 + signal.SIGXCPU
    assert watched.roots == ["rlimit-signal"]


def test_keyboard_interrupt_is_the_users_doing(watched):
    watched.python("import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(5)")
    assert watched.verdict["outcome"] == "interrupted"
    assert watched.roots == ["user-interrupt"]


def test_hang_up_is_a_logout(watched):
    watched.run("sh", "-c", "kill -HUP $$")
    assert watched.verdict["outcome"] == "killed"
    assert watched.roots == ["sighup-logout"]


def test_a_closed_reader_is_named(watched):
    watched.run("sh", "-c", "kill -PIPE $$")
    assert watched.roots == ["broken-pipe"]


LOOP = """
for turn in 1 2 3; do
    "$@" sh -c 'echo begun; exec sleep 5'
    echo "after turn $turn"
done
"""


def said_until_ctrl_c_ends_it(*command):
    """What a script says on a terminal of its own on which somebody types Ctrl-C once its first command runs."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", LOOP, "bash", *map(str, command)])
    said = b""
    while b"begun" not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while piece := os.read(terminal, 4096):
            said += piece
    except OSError:
        pass  # The last process has closed it.
    os.waitpid(pid, 0)
    return said.count(b"begun"), said.count(b"after turn")


def test_ctrl_c_ends_a_script_that_runs_one_training_after_the_other(tmp_path):
    """A shell goes on behind a command that returns 130, and ends behind one that SIGINT killed."""
    bare = said_until_ctrl_c_ends_it("env")
    assert bare == (1, 0)
    assert said_until_ctrl_c_ends_it(WHYSTOP, "run", "-q", "--dir", tmp_path / "r", "--") == bare


@pytest.mark.parametrize("number", sorted({*range(1, 32)} - {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD, signal.SIGCONT,
                                                             signal.SIGURG, signal.SIGWINCH}))
def test_the_status_of_a_signal_is_the_one_that_shells_return(watched, number):
    watched.run("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$")
    assert watched.done.returncode == 128 + number


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_as_process_one_of_a_container_the_number_is_returned(tmp_path, number):
    """No signal of its own ends that process."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no PID namespaces here")
    ran = subprocess.run([*inside, WHYSTOP, "run", "-q", "--dir", tmp_path / "r", "--", "sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"],
                         stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    assert ran.returncode == 128 + number
