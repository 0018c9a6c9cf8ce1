"""The whole tree of the job is followed: orphans, daemons, and more children than anybody wants."""

import os
import signal
import subprocess

import pytest
from conftest import TIMEOUT, is_alive, wait_until


def test_an_orphan_is_reaped_with_its_status(supervisor):
    """The middle process ends at once; its child then crashes while the job goes on."""
    script = "(sh -c 'ulimit -c 0; kill -SEGV $$' & ) ; (sh -c 'exit 7' &) ; sleep 0.5; exit 0"
    assert supervisor.run("sh", "-c", script).returncode == 0
    assert supervisor.recording.find(r"^process-end .*job=0 name=sh end=signal:11 rss=[1-9]")
    assert supervisor.recording.find(r"^process-end .*job=0 name=sh end=exit:7 ")


def test_returns_when_the_job_ends_though_a_daemon_lives_on(supervisor, tmp_path):
    pid_file = tmp_path / "pid"
    code = ("import os,sys,time\n"
            "if os.fork() == 0:\n os.setsid()\n"
            " if os.fork() == 0:\n"
            "  open(sys.argv[1],'w').write(str(os.getpid()))\n"
            "  for n in (0,1,2): os.close(n)\n  time.sleep(600)\n"
            " os._exit(0)\n"
            "os.wait()\nwhile not os.path.exists(sys.argv[1]): pass\nos._exit(4)")
    process = supervisor.start(*supervisor.python(code), pid_file, stdout=subprocess.PIPE)
    assert process.wait(TIMEOUT) == 4
    assert process.stdout.read() == b""
    daemon = int(wait_until(pid_file.read_text, "the daemon starts"))
    assert is_alive(daemon), "the daemon lives on"
    os.kill(daemon, signal.SIGKILL)


def test_output_of_a_daemon_still_arrives_after_the_end(supervisor):
    """As in `cmd | cat`: the reader stays until the last writer is gone."""
    read_end, write_end = os.pipe()
    script = "sh -c 'read line < \"$0\"; echo late' \"$0\" & echo early; exit 3"
    fifo = supervisor.folder.parent / "fifo"
    os.mkfifo(fifo)
    process = supervisor.start("sh", "-c", script, fifo, stdout=write_end)
    os.close(write_end)
    assert process.wait(TIMEOUT) == 3
    assert supervisor.recording.find("^end exit:3$")
    with open(fifo, "w", encoding="ascii") as go:
        go.write("\n")
    with open(read_end, "rb") as reader:
        assert reader.read() == b"early\nlate\n"


@pytest.mark.parametrize("work", ["time.sleep(600)", "os.write(1, b'w')"])
def test_workers_that_outlive_a_sigterm_do_not_hold_the_status_up(supervisor, tmp_path, work):
    """They keep the output open, as they would in `cmd | cat`; whoever waits for the job has its status all the same."""
    pid_file = tmp_path / "pid"
    code = ("import os,sys,time\n"
            "if os.fork() == 0:\n"
            " open(sys.argv[1],'w').write(str(os.getpid()) + ' ')\n"
            f" while True: {work}\n"
            "time.sleep(600)")
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process = supervisor.start(*supervisor.python(code), pid_file, stdout=reader.stdin)
    reader.stdin.close()
    wait_until(lambda: pid_file.exists() and pid_file.read_text().endswith(" "), "the worker starts")
    worker = int(pid_file.read_text())
    process.send_signal(signal.SIGTERM)
    status = process.wait(TIMEOUT)
    both_live = is_alive(worker) and reader.poll() is None
    os.kill(worker, signal.SIGKILL)
    assert (status, both_live) == (128 + signal.SIGTERM, True)
    assert reader.wait(TIMEOUT) == 0
    assert supervisor.recording.find("^end signal:15$")


def test_survives_a_bomb_of_short_children(supervisor):
    """2000 orphans: all reaped, few recorded, the rest counted."""
    code = ("import os\n"
            "for i in range(2000):\n"
            " pid=os.fork()\n"
            " if pid==0:\n"
            "  if os.fork()==0: os._exit(0)\n"
            "  os._exit(0)\n"
            " os.waitpid(pid,0)\n")
    process = supervisor.start(*supervisor.python(code), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    keeper = supervisor.keeper_of(process.pid)
    assert process.wait(TIMEOUT) == 0
    assert process.stderr.read() == b""
    wait_until(lambda: not is_alive(keeper), "the keeper ends")
    ends = supervisor.recording.find("^process-end .*job=0")
    counted = sum(int(line.split("=")[1]) for line in supervisor.recording.find("^drop supervise.process_ends_unrecorded"))
    # Orphans that are still alive when the job ends go to init.
    assert 1500 < len(ends) + counted <= 2000
    assert counted > 0


def test_a_job_that_forks_away_its_terminal_group_is_followed(supervisor):
    code = "import os\nos.setpgid(0,0)\npid=os.fork()\nif pid==0:\n os.setsid()\n os._exit(9)\nos.waitpid(pid,0)\nos._exit(8)"
    assert supervisor.run(*supervisor.python(code)).returncode == 8
