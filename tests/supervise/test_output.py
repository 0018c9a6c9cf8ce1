"""Output reaches the user byte for byte, however it is connected, and is on record."""

import hashlib
import os
import re
import signal
import socket
import subprocess

import pytest
from conftest import TIMEOUT, is_alive, kill_count, wait_until


def test_stdout_and_stderr_stay_apart(supervisor):
    result = supervisor.run("sh", "-c", "echo out; echo err >&2")
    assert (result.stdout, result.stderr) == (b"out\n", b"err\n")
    assert supervisor.recording.log(1) == b"out\n"
    assert supervisor.recording.log(2) == b"err\n"


def test_joined_stdout_and_stderr_keep_their_order(supervisor):
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
    result = supervisor.run("sh", "-c", script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expected = b"".join(b"out %d\nerr %d\n" % (i, i) for i in range(1, 10))
    assert result.stdout == expected
    assert supervisor.recording.log(1) == expected


def test_binary_output_is_untouched(supervisor):
    every_byte = bytes(range(256)) * 1000
    result = supervisor.run("cat", input=every_byte, stdin=None)
    assert result.stdout == every_byte
    assert supervisor.recording.log(1) == every_byte


def flood(supervisor, total):
    """Runs a job that prints `total` pseudo-random bytes fast; returns digests of what was sent and what arrived."""
    code = ("import hashlib,os,sys\nblock=os.urandom(1<<20)\nh=hashlib.sha256()\n"
            f"for i in range({total >> 20}):\n"
            " piece=block[i%997:]+block[:i%997]\n"
            " view=memoryview(piece)\n h.update(piece)\n"
            " while view:\n  view=view[os.write(1,view):]\n"
            "sys.stderr.write(h.hexdigest())\n")
    process = supervisor.start(*supervisor.python(code), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    arrived = hashlib.sha256()
    count = 0
    while piece := process.stdout.read1(1 << 20):
        arrived.update(piece)
        count += len(piece)
    sent = process.stderr.read().decode()
    assert process.wait(TIMEOUT) == 0
    assert count == total
    return sent, arrived.hexdigest()


def test_a_flood_arrives_byte_for_byte(supervisor):
    """The recording is free to drop some of it, but says so."""
    total = int(os.environ.get("WHYSTOP_FLOOD_BYTES", 1 << 30 if kill_count() >= 200 else 256 << 20))
    sent, arrived = flood(supervisor, total)
    assert sent == arrived
    dropped = sum(int(line.split("=")[1]) for line in supervisor.recording.find("^drop supervise.output_bytes_unrecorded"))
    assert len(supervisor.recording.log(1)) + dropped == total


def test_of_a_torrent_what_is_on_record_stands_in_its_place(supervisor):
    """However fast it comes: a beginning as large as a recording keeps, the very last, and what lies between in whole stretches."""
    block = b"".join(b"%07d\n" % i for i in range(125_000))
    count = 256
    code = f"import os\nblock=b''.join(b'%07d\\n' % i for i in range(125_000))\nfor i in range({count}):\n at=0\n while at<len(block): at+=os.write(1,block[at:])\n"
    assert supervisor.run(*supervisor.python(code), stdout=subprocess.DEVNULL).returncode == 0
    log = supervisor.recording.log(1)
    assert len(log) == count * len(block)
    pieces = [log[at : at + len(block)] for at in range(0, len(log), len(block))]
    assert pieces[:40] == [block] * 40
    assert log[-4096:] == block[-4096:]
    for piece in pieces:  # What was not taken is a hole in the file of run_job.
        for stretch in re.finditer(rb"[^\0]+", piece):
            assert block.startswith(stretch.group(), stretch.start())


def test_a_regular_file_is_written_by_the_job_itself(supervisor, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"before\n")
    with open(path, "ab") as log:
        result = supervisor.run("sh", "-c", "readlink /proc/self/fd/1; echo err >&2", stdout=log, stderr=log)
    assert result.returncode == 0
    expected = str(path).encode() + b"\nerr\n"
    assert path.read_bytes() == b"before\n" + expected
    assert supervisor.recording.log(1) == expected


def test_a_file_open_in_the_middle_is_recorded_from_there(supervisor, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    with open(path, "r+b") as log:
        log.seek(10)
        supervisor.run("echo", "hello", stdout=log, stderr=subprocess.DEVNULL)
    assert path.read_bytes()[10:16] == b"hello\n"
    assert supervisor.recording.log(1).startswith(b"hello\n")


def test_dev_null_is_recorded(supervisor):
    supervisor.run("sh", "-c", "echo unseen; echo too >&2", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert supervisor.recording.log(1) == b"unseen\ntoo\n"


def test_a_socket_is_served(supervisor):
    ours, theirs = socket.socketpair()
    process = supervisor.start("seq", "1", "20000", stdout=theirs, stderr=subprocess.DEVNULL)
    theirs.close()
    received = b""
    while piece := ours.recv(65536):
        received += piece
    assert process.wait(TIMEOUT) == 0
    assert received == b"".join(b"%d\n" % i for i in range(1, 20001))


def test_stdin_is_the_users_own(supervisor):
    process = supervisor.start("sh", "-c", "read line; echo got $line; readlink /proc/self/fd/0",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    inode = os.fstat(process.stdin.fileno()).st_ino
    out, _ = process.communicate(b"hello\n", timeout=TIMEOUT)
    assert out.splitlines() == [b"got hello", b"pipe:[%d]" % inode]


def test_a_closed_stdin_is_seen_by_its_writer(supervisor):
    """The job closes its standard input and lives on: who writes to it must get EPIPE, so nobody else may hold it."""
    process = supervisor.start(*supervisor.python("import os,time\nos.close(0)\nos.write(1,b'x')\ntime.sleep(600)"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.read(1)

    def is_broken():
        try:
            os.write(process.stdin.fileno(), b"x")
        except BrokenPipeError:
            return True
        return False
    previous = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    wait_until(is_broken, "the writer to the job's stdin gets EPIPE")
    signal.signal(signal.SIGPIPE, previous)
    process.send_signal(signal.SIGKILL)
    process.stdin.detach()


def test_a_closed_stdout_is_seen_by_its_reader(supervisor):
    process = supervisor.start(*supervisor.python("import os,time\nos.write(1,b'x')\nos.close(1)\ntime.sleep(600)"),
                               stdout=subprocess.PIPE)
    assert process.stdout.read() == b"x"  # Ends although the job and the front live on.
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT) == 128 + signal.SIGTERM


def test_a_reader_that_goes_away_ends_the_job_by_sigpipe(supervisor):
    process = supervisor.start("yes", stdout=subprocess.PIPE)
    assert process.stdout.read(2) == b"y\n"
    process.stdout.close()
    assert process.wait(TIMEOUT) == 128 + signal.SIGPIPE
    assert supervisor.recording.find("^note the reader of the job's stdout went away$")


def test_a_silent_job_meets_a_gone_reader_at_its_first_write(supervisor):
    """Without us its first write would fail; a relay which noticed only at that write would make it the second."""
    code = ("import os,signal,sys\nsignal.signal(signal.SIGPIPE,signal.SIG_IGN)\nos.write(1,b'x')\n"
            "sys.stdin.readline()\n"
            "try:\n os.write(1,b'y')\nexcept BrokenPipeError:\n os._exit(42)\n")
    process = supervisor.start(*supervisor.python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()
    wait_until(lambda: supervisor.recording.find("went away"), "the relay notices")
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.wait(TIMEOUT) == 42


def test_a_slow_reader_slows_the_job_and_loses_nothing(supervisor):
    process = supervisor.start("seq", "1", "200000", stdout=subprocess.PIPE)
    pid = supervisor.job()
    # The pipes are full and nobody reads: the job must be waiting, not gone with its output in our memory.
    wait_until(lambda: open(f"/proc/{pid}/stat").read().split(") ")[1][0] == "S", "the job waits")
    assert is_alive(pid)
    assert process.stdout.read() == b"".join(b"%d\n" % i for i in range(1, 200001))
    assert process.wait(TIMEOUT) == 0


def test_a_non_blocking_output_loses_nothing(supervisor):
    """Some parents give a descriptor that is non-blocking; the job then sees an ordinary pipe."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    process = supervisor.start("seq", "1", "100000", stdout=write_end)
    os.close(write_end)
    with open(read_end, "rb") as reader:
        assert reader.read() == b"".join(b"%d\n" % i for i in range(1, 100001))
    assert process.wait(TIMEOUT) == 0


def test_a_file_that_may_not_be_read_is_relayed(supervisor, tmp_path):
    """A log file opened for appending which its owner may write but not read: following and splice(2) both fail."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody who may not read")
    os.chmod(tmp_path, 0o777)
    for parent in tmp_path.parents[:3]:
        os.chmod(parent, 0o755)
    path = tmp_path / "log"
    path.touch()
    os.chmod(path, 0o200)
    os.chown(path, 65534, 65534)
    with open(path, "ab") as log:
        result = supervisor.run("seq", "1", "50000", stdout=log, stderr=subprocess.DEVNULL, user=65534, group=65534,
                                extra_groups=[])
    assert result.returncode == 0
    expected = b"".join(b"%d\n" % i for i in range(1, 50001))
    assert path.read_bytes() == expected
    assert supervisor.recording.log(1) == expected


def test_who_reads_only_after_the_end_gets_status_and_output(supervisor):
    """A pipe has room for as many small lines as fit into its bytes; ours must not hold up the end of the run."""
    job = supervisor.python("import sys\nfor i in range(300):\n    print('line', i, flush=True)\nsys.exit(9)")
    front = supervisor.start(*job, stdout=subprocess.PIPE)
    assert front.wait(TIMEOUT) == 9
    assert front.stdout.read() == b"".join(b"line %d\n" % i for i in range(300))
    front.stdout.close()
