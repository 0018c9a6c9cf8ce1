"""Little of everything: descriptors, processes, a witness that does not answer. The job must not notice."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from conftest import BUILD, TIMEOUT, children, is_alive, name_of, stat_fields, wait_until

WHYSTOP = str(BUILD / "whystop")


def witness_of(front):
    found = wait_until(lambda: [pid for pid in children(front) if name_of(pid) == "wswitness"], "the witness starts")
    return found[0]


def test_a_stopped_witness_holds_nobody_up(supervisor, tmp_path):
    go = tmp_path / "go"
    front = supervisor.start("sh", "-c", f"while [ ! -e '{go}' ]; do sleep 0.05; done; exit 5")
    os.kill(witness_of(front.pid), signal.SIGSTOP)
    go.touch()
    assert front.wait(TIMEOUT) == 5


def test_a_continue_for_the_front_alone_reaches_a_job_that_was_stopped_with_its_group(supervisor, tmp_path):
    go = tmp_path / "go"
    # One process: of a job that has several, only the one that the signal is for would go on, as without us.
    waiting = f"import os, time\nwhile not os.path.exists({str(go)!r}):\n    time.sleep(0.05)\nos._exit(6)"
    front = supervisor.start(*supervisor.python(waiting), start_new_session=True)
    job = supervisor.job()
    os.killpg(front.pid, signal.SIGSTOP)
    wait_until(lambda: stat_fields(job)[0] == "T" and stat_fields(front.pid)[0] == "T", "the group stops")
    os.kill(front.pid, signal.SIGCONT)
    wait_until(lambda: stat_fields(job)[0] != "T", "the job goes on")
    go.touch()
    assert front.wait(TIMEOUT) == 6


def test_a_group_that_is_stopped_and_continued_goes_on_with_all_its_processes(supervisor, tmp_path):
    """As a scheduler suspends a job and resumes it; twice, for what was made for the first time may be used up."""
    go = tmp_path / "go"
    script = f"while [ ! -e '{go}' ]; do sleep 0.05; done & wait; exit 7"
    front = supervisor.start("sh", "-c", script, start_new_session=True)
    job = supervisor.job()
    helper = wait_until(lambda: children(job), "the job starts another")[0]
    for _ in range(2):
        os.killpg(front.pid, signal.SIGSTOP)
        wait_until(lambda: all(stat_fields(pid)[0] == "T" for pid in (job, helper, front.pid)), "the group stops")
        os.killpg(front.pid, signal.SIGCONT)
        wait_until(lambda: all(stat_fields(pid)[0] != "T" for pid in (job, helper, front.pid)), "the group goes on")
    go.touch()
    assert front.wait(TIMEOUT) == 7


def test_nothing_of_ours_is_left_behind(supervisor):
    front = supervisor.start("sh", "-c", "exit 4")
    known = set()
    while front.poll() is None:
        known.update(children(front.pid))
    wait_until(lambda: not any(is_alive(pid) for pid in known), "all our processes end")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 8, 12])
def test_few_processes_allowed(count):
    """RLIMIT_NPROC counts all of a user's processes: it is tried as a user that has no other."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    nobody = 54321  # A number that nobody has.
    prepare = (
        "import os, resource, sys; os.setgroups([]); os.setgid({0}); os.setuid({0}); resource.setrlimit(resource.RLIMIT_NPROC, ({1}, {1}));"
        "os.execv(sys.argv[1], sys.argv[1:])"
    ).format(nobody, count)
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, nobody, nobody)
        job = ["/bin/sh", "-c", "printf err >&2; exec head -c 300000 /dev/zero"]
        ran = subprocess.run([sys.executable, "-I", "-S", "-c", prepare, WHYSTOP, "run", "--dir", f"{folder}/recording", "--", *job],
                             capture_output=True, timeout=TIMEOUT, check=False, cwd="/", env={"PATH": os.environ["PATH"], "HOME": folder})
    if b"PermissionError" in ran.stderr:
        pytest.skip("another user may not execute this build")
    assert (ran.returncode, len(ran.stdout)) == (0, 300000), ran.stderr
    lines = [line for line in ran.stderr.split(b"\n") if not line.startswith((b"whystop: ", b"  details: ", b"  hint: "))]
    assert b"\n".join(lines).strip() == b"err"


def test_the_closing_line_stands_on_a_line_of_its_own(tmp_path):
    ran = subprocess.run([WHYSTOP, "run", "--dir", str(tmp_path / "r"), "--", "sh", "-c", "printf 'no end' >&2"], capture_output=True,
                         timeout=TIMEOUT, check=True)
    assert b"no end\nwhystop: " in ran.stderr
    ran = subprocess.run([WHYSTOP, "run", "--dir", str(tmp_path / "s"), "--", "sh", "-c", "echo an end >&2"], capture_output=True,
                         timeout=TIMEOUT, check=True)
    assert b"an end\nwhystop: " in ran.stderr


def test_the_status_does_not_wait_for_a_verdict_that_never_comes(tmp_path):
    """Who judges is stopped: the job's status comes all the same, with a word on where the verdict is to be had."""
    over = tmp_path / "over"
    lines = 400_000  # Enough that judging takes long enough to be caught at it.
    job = f"import os\nos.write(1, b'epoch 1 loss 0.5\\n' * {lines})\nopen({str(over)!r}, 'w').close()\nos._exit(6)"
    front = subprocess.Popen([WHYSTOP, "run", "--dir", str(tmp_path / "r"), "--", sys.executable, "-I", "-S", "-c", job],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    judge = wait_until(lambda: front.poll() is not None or (over.exists() and [pid for pid in children(front.pid) if name_of(pid) == "whystop"]), "the judge starts")
    if judge is True:
        pytest.skip("the verdict came too soon to be stopped")
    os.kill(judge[0], signal.SIGSTOP)
    _, said = front.communicate(timeout=TIMEOUT)
    assert front.returncode == 6
    assert b"the verdict takes longer: whystop why" in said
    assert not is_alive(judge[0])


def test_runs_that_start_together_have_folders_of_their_own(tmp_path):
    environment = {**os.environ, "WHYSTOP_HOME": str(tmp_path / "home")}
    runs = [subprocess.Popen([WHYSTOP, "run", "-q", "--", "sh", "-c", "exit 3"], env=environment) for _ in range(20)]
    assert [run.wait(TIMEOUT) for run in runs] == [3] * 20
    folders = [path for path in (tmp_path / "home").iterdir() if not path.is_symlink()]
    assert len(folders) == 20


def test_a_home_that_is_not_ours_is_not_used(tmp_path):
    """Without HOME the recordings go to the temporary folder, where anybody may have made that folder before."""
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "WHYSTOP_HOME", "XDG_STATE_HOME")}
    environment["TMPDIR"] = str(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"whystop-{os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    ran = subprocess.run([WHYSTOP, "run", "--", "sh", "-c", "echo out; exit 3"], env=environment, capture_output=True, timeout=TIMEOUT, check=False)
    assert (ran.returncode, ran.stdout) == (3, b"out\n")
    assert b"the job runs without a recording" in ran.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("owner, mode, words", [(54321, 0o755, b"belongs to another user"), (0, 0o777, b"others"), (0, 0o1777, b"others")])
def test_a_folder_of_another_is_left_alone(tmp_path, owner, mode, words):
    """Also one that root could write to, and also behind the job's back: nothing is made in it."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, owner, owner)
    folder.chmod(mode)
    ran = subprocess.run([WHYSTOP, "run", "--dir", str(folder), "--", "sh", "-c", "echo done; exit 5"], capture_output=True, timeout=TIMEOUT, check=False)
    assert (ran.returncode, ran.stdout) == (5, b"done\n")
    assert words in ran.stderr and b"the job runs without a recording" in ran.stderr
    assert list(folder.iterdir()) == []


def test_escape_sequences_do_not_reach_the_terminal(tmp_path):
    """File names and command lines of others, in our own lines."""
    hostile = tmp_path / "a\x1b]0;owned\x07\x1b[2J\u202eb\u009b31m"
    hostile.mkdir()
    job = ["sh", "-c", "exit 1", "x\x1b[31m\u202e\u009b"]
    ran = subprocess.run([WHYSTOP, "run", "--dir", str(hostile / "r"), "--", *job], capture_output=True, timeout=TIMEOUT, check=False)
    texts = [ran.stderr]
    for command in (["why", str(hostile / "r")], ["why", "--json", str(hostile / "r")], ["why", str(hostile / "none")]):
        ran = subprocess.run([WHYSTOP, *command], capture_output=True, timeout=TIMEOUT, check=False)
        texts += [ran.stdout, ran.stderr]
    for text in texts:
        shown = text.decode()
        assert not [hex(ord(c)) for c in shown if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066"], text


def test_orphans_that_come_to_process_one_are_reaped(tmp_path):
    """As process 1 of a container whystop inherits orphans from outside the job."""
    script = (
        f"{WHYSTOP!r} run -q --dir {str(tmp_path / 'r')!r} -- sh -c 'sleep 1.5; ps -eo stat= 2>/dev/null || cat /proc/[0-9]*/stat | cut -d\")\" -f2 | cut -c2-3'"
    )
    inner = tmp_path / "inner.sh"
    inner.write_text(f"#!/bin/sh\nmount -t proc proc /proc\nexec {script}\n")
    inner.chmod(0o755)
    outer = subprocess.Popen(["unshare", "--pid", "--mount", "--fork", str(inner)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    front = wait_until(lambda: children(outer.pid) or outer.poll() is not None, "process 1 starts")
    if outer.poll() is not None and outer.returncode != 0:
        pytest.skip("no PID namespaces here")
    entered = subprocess.run(["nsenter", "--pid", "--mount", "--target", str(front[0]), "sh", "-c", "(sleep 0.2 &) ; exit 0"], capture_output=True,
                             timeout=TIMEOUT, check=False)
    out, _ = outer.communicate(timeout=TIMEOUT)
    if entered.returncode != 0:
        pytest.skip("cannot enter the namespace")
    assert b"Z" not in out, out
