"""How a job starts and ends is what the caller sees."""

import os
import shlex
import signal
import subprocess

import pytest
from conftest import RUN_JOB, TIMEOUT


@pytest.mark.parametrize("code", [0, 1, 2, 77, 125, 255])
def test_passes_the_exit_code_on(supervisor, code):
    assert supervisor.run("sh", "-c", f"exit {code}").returncode == code
    assert supervisor.recording.find(f"^end exit:{code}$")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE])
def test_returns_128_plus_the_signal(supervisor, number):
    assert supervisor.run("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$").returncode == 128 + number
    assert supervisor.recording.find(f"^process-end .*job=1 .*end=signal:{int(number)} ")
    assert supervisor.recording.find(f"^end signal:{int(number)}$")


def test_says_that_a_command_does_not_exist(supervisor):
    result = supervisor.run("no-such-command-here", "argument")
    assert result.returncode == 127
    assert result.stderr == b"run_job: command not found: 'no-such-command-here'\n"
    assert supervisor.recording.find("^note could not start: command not found: 'no-such-command-here'$")
    assert supervisor.recording.find("^end unknown$")


def test_says_that_a_path_does_not_exist(supervisor, tmp_path):
    result = supervisor.run(tmp_path / "absent")
    assert result.returncode == 127
    assert b"No such file or directory" in result.stderr


def test_says_that_a_file_is_not_executable(supervisor, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o644)
    result = supervisor.run(script)
    assert result.returncode == 126
    assert result.stderr.endswith(b"Permission denied\n")
    assert supervisor.recording.find("^note could not start: cannot execute ")


def test_says_that_the_interpreter_is_missing(supervisor, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = supervisor.run(script)
    assert result.returncode == 126
    assert b"interpreter" in result.stderr


def test_a_folder_is_no_command(supervisor, tmp_path):
    assert supervisor.run(tmp_path).returncode == 126


def test_the_job_outlives_a_recording_that_cannot_be_written(tmp_path):
    """The test writer fails on every call: its folder's parent is missing."""
    result = subprocess.run([RUN_JOB, tmp_path / "absent" / "folder", "sh", "-c", "echo fine; exit 4"],
                            capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    assert (result.returncode, result.stdout) == (4, b"fine\n")


def test_works_when_started_with_sigchld_ignored(supervisor):
    result = supervisor.run("sh", "-c", "exit 6", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert result.returncode == 6


def test_works_without_standard_descriptors(supervisor):
    """The job must find them closed too, and not one of our descriptors in their place."""
    look = "for n in 0 1 2; do test -e /proc/$$/fd/$n && exit $n; done; exit 9"
    script = f"exec {shlex.join(supervisor.command('sh', '-c', look))} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], timeout=TIMEOUT, check=False).returncode == 9


def test_nested_runs_pass_everything_through(supervisor, tmp_path):
    inner = [str(RUN_JOB), str(tmp_path / "inner"), "sh", "-c", "cat; echo error >&2; exit 11"]
    result = supervisor.run(*inner, input=b"hello", stdin=None)
    assert (result.returncode, result.stdout, result.stderr) == (11, b"hello", b"error\n")
    assert supervisor.recording.find("^end exit:11$")
    assert "end exit:11" in (tmp_path / "inner" / "events").read_text()


def test_two_runs_side_by_side_do_not_meet(supervisor, tmp_path):
    processes = [subprocess.Popen([RUN_JOB, tmp_path / str(i), "sh", "-c", f"echo {i}; exit {i}"],
                                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) for i in range(8)]
    for i, process in enumerate(processes):
        assert process.communicate(timeout=TIMEOUT)[0] == b"%d\n" % i
        assert process.returncode == i


def test_the_job_cannot_tell_our_descriptors_signals_or_limits(supervisor):
    """Compares what a bare job and ours find in /proc about themselves."""
    look = ["sh", "-c", "ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -a; nice; umask"]
    bare = subprocess.run(look, capture_output=True, stdin=subprocess.DEVNULL, check=True)
    ours = supervisor.run(*look)
    assert ours.stdout == bare.stdout


def test_changes_only_the_documented_environment(supervisor):
    bare = subprocess.run(["env"], capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout.splitlines()
    ours = supervisor.run("env").stdout.splitlines()
    assert set(ours) - set(bare) == {b"WHYSTOP_TEST=1"}
    assert set(bare) <= set(ours)


def test_records_no_secret_argument(supervisor):
    supervisor.run("echo", "--api-key=abc123", "--password", "hunter2", "--lr=0.1")
    assert supervisor.recording.find(r"command=echo\|--api-key=\*\*\*\|--password\|\*\*\*\|--lr=0.1\|")


def test_leaves_no_process_behind(supervisor, tmp_path):
    """Every process of this run knows its mark by its environment; other runs may go on beside it."""
    mark = f"MARK={tmp_path}"
    supervisor.run("sh", "-c", "echo done", env={**os.environ, "MARK": str(tmp_path)})
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    left.append(pid)
        except OSError:
            continue  # It is gone by now.
    assert not left


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to hide /proc")
def test_works_without_proc(supervisor, tmp_path):
    """Names of processes are then unknown and a file cannot be followed; job, output and status are as ever."""
    job = shlex.join(supervisor.command("sh", "-c", "echo fine; echo error >&2; exit 7"))
    script = f"mount -t tmpfs none /proc && {{ {job} > {tmp_path}/out; }}"
    result = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, timeout=TIMEOUT, check=False)
    if b"unshare" in result.stderr or b"mount" in result.stderr:
        pytest.skip("no rights to mount here")
    assert result.returncode == 7
    assert result.stderr.endswith(b"error\n")  # A sanitizer, too, misses /proc and says so.
    assert (tmp_path / "out").read_bytes() == b"fine\n"
    assert supervisor.recording.log(1) == b"fine\n"
    assert supervisor.recording.find("^end exit:7$")
