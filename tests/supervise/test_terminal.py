"""A job keeps its terminal. Bare and supervised sessions are compared in a real terminal emulator (tmux)."""

import fcntl
import os
import pty
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios

import pytest
from conftest import TIMEOUT, Supervisor, stat_fields, wait_until

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A pseudo-terminal with a shell-less session in it: what a terminal emulator does."""

    def __init__(self, command, rows=24, columns=80):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvp(command[0], command)
        self.text = b""

    def read_until(self, wanted):
        while wanted not in self.text:
            piece = self.read()
            assert piece, f"ended without {wanted}: {self.text}"
        return self.text

    def read(self):
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return b""
        self.text += piece
        return piece

    def read_all(self):
        while self.read():
            pass
        return self.text

    def type(self, keys):
        os.write(self.fd, keys)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self):
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_the_bytes_on_the_terminal_are_the_same(supervisor):
    job = ["sh", "-c", "tty >&2; test -t 0 && test -t 1 && test -t 2 && printf 'a\\nb\\tc\\r\\033[1mbold\\033[0m\\n'; stty size"]
    bare = Terminal(job)
    expected = bare.read_all().split(b"\n", 1)[1]
    assert bare.wait() == 0
    ours = Terminal(supervisor.command(*job))
    assert ours.read_all().split(b"\n", 1)[1] == expected
    assert ours.wait() == 0
    assert b"24 80" in expected
    assert supervisor.recording.find("^start .*terminal=1")
    assert b"bold" in supervisor.recording.log(3)


def test_the_window_size_follows(supervisor):
    code = ("import os,signal\n"
            "def show(*_):\n size=os.get_terminal_size(1)\n os.write(1,b'%dx%d\\n'%(size.lines,size.columns))\n"
            "signal.signal(signal.SIGWINCH,show)\nshow()\nos.read(0,1)")
    terminal = Terminal(supervisor.command(*supervisor.python(code)))
    terminal.read_until(b"24x80")
    terminal.resize(50, 132)
    terminal.read_until(b"50x132")
    terminal.type(b"\n")
    terminal.read_all()
    assert terminal.wait() == 0


def test_ctrl_c_reaches_the_job_once_and_whystop_waits(supervisor):
    code = ("import os,signal,time\ncount=0\n"
            "def on(*_):\n global count\n count+=1\n os.write(1,b'interrupted\\n')\n"
            "signal.signal(signal.SIGINT,on)\nos.write(1,b'ready\\n')\nos.read(0,1)\nos._exit(40+count)")
    terminal = Terminal(supervisor.command(*supervisor.python(code)))
    terminal.read_until(b"ready")
    terminal.type(b"\x03")
    terminal.read_until(b"interrupted")
    wait_until(lambda: supervisor.recording.find("^signal number=2 "), "the signal is on record")
    terminal.type(b"\n")
    terminal.read_all()
    assert terminal.wait() == 41
    assert supervisor.recording.find("^signal number=2 forwarded=0 kernel=1 sender=0 ")


def test_ctrl_c_ends_an_ordinary_job(supervisor):
    terminal = Terminal(supervisor.command("sh", "-c", "echo ready; exec sleep 600"))
    terminal.read_until(b"ready")
    terminal.type(b"\x03")
    terminal.read_all()
    assert terminal.wait() == 128 + signal.SIGINT
    assert supervisor.recording.find("^signal number=2 forwarded=0 kernel=1 ")


def test_a_closed_terminal_hangs_up_the_job(supervisor):
    terminal = Terminal(supervisor.command("sh", "-c", "echo ready; exec sleep 600"))
    terminal.read_until(b"ready")
    os.close(terminal.fd)
    assert supervisor.wait_for_end() == "end signal:1"
    # The kernel hangs up the session's leader, here whystop in the place of the job: so it is passed on.
    assert supervisor.recording.find("^signal number=1 forwarded=1 kernel=1 ")
    os.waitpid(terminal.pid, 0)


def test_a_job_that_survives_the_hang_up_meets_eio(supervisor, tmp_path):
    seen = tmp_path / "seen"
    code = ("import os,signal,sys\nsignal.signal(signal.SIGHUP,signal.SIG_IGN)\nos.write(1,b'ready\\n')\n"
            "r=open(sys.argv[1]).read()\n"
            "try:\n os.write(1,b'x')\nexcept OSError as e:\n open(sys.argv[2],'w').write(str(e.errno))\n")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    terminal = Terminal(supervisor.command(*supervisor.python(code), fifo, seen))
    terminal.read_until(b"ready")
    os.close(terminal.fd)
    wait_until(lambda: supervisor.recording.find("went away"), "the relay notices")
    fifo.write_text("go")
    supervisor.wait_for_end()
    assert seen.read_text() == "5"  # EIO
    os.waitpid(terminal.pid, 0)


def test_a_job_may_close_its_terminal_and_live_on(supervisor, tmp_path):
    code = ("import os,sys\nos.write(1,b'ready\\n')\nname=os.ttyname(1)\n"
            "for n in (1,2): os.close(n)\n"
            "again=os.open(name,os.O_WRONLY|os.O_NOCTTY)\nos.write(again,b'again\\n')\nos.close(again)\nos._exit(12)")
    terminal = Terminal(supervisor.command(*supervisor.python(code)))
    terminal.read_all()
    assert terminal.text == b"ready\r\nagain\r\n"
    assert terminal.wait() == 12


def test_only_an_output_that_is_a_terminal_becomes_one(supervisor):
    """`whystop run -- train | tee log`: stderr is a terminal, stdout a pipe."""
    look = "test -t 1 && echo terminal || echo pipe; test -t 2 && echo bar >&2"
    terminal = Terminal(["sh", "-c", shlex.join(supervisor.command("sh", "-c", look)) + " | cat"])
    assert sorted(terminal.read_all().splitlines()) == [b"bar", b"pipe"]
    terminal.wait()
    assert supervisor.recording.log(1) == b"pipe\n"
    assert supervisor.recording.log(3) == b"bar\n"


def test_a_background_child_still_prints_after_the_end(supervisor, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    job = supervisor.command("sh", "-c", 'sh -c \'read line < "$0"; echo late\' "$0" & exit 3', fifo)
    terminal = Terminal(["sh", "-c", f"{shlex.join(job)}; echo code $?; echo go > {fifo}; read line"])
    terminal.read_until(b"late")
    assert b"code 3" in terminal.text
    terminal.type(b"\n")
    terminal.read_all()
    terminal.wait()


@pytest.mark.parametrize("victim", ["front", "keeper"])
def test_the_terminal_is_sane_after_a_kill(supervisor, victim):
    """The shell that gets the prompt back finds the modes it left, and the job's output goes on."""
    job = supervisor.command("sh", "-c", "echo ready; sleep 1; echo still here; exit 3")
    terminal = Terminal(["sh", "-c", f"{shlex.join(job)} < /dev/null; echo code $?; stty -a; read line"])
    before = termios.tcgetattr(terminal.fd)
    terminal.read_until(b"ready")
    job_pid = supervisor.job()
    keeper = int(stat_fields(job_pid)[1])
    os.kill(int(stat_fields(keeper)[1]) if victim == "front" else keeper, signal.SIGKILL)
    terminal.read_until(b"still here")
    terminal.read_until(b"code 137" if victim == "front" else b"code 3")
    assert termios.tcgetattr(terminal.fd) == before
    assert supervisor.wait_for_end() == "end exit:3"
    terminal.type(b"\n")
    terminal.read_all()
    terminal.wait()


class Tmux:
    """One tmux server of our own with one window."""

    def __init__(self, folder, command):
        self.socket = str(folder / "tmux")
        self.call("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "env", "PS1=$ ", "sh")
        self.keys(command, "Enter")

    def call(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, check=True, timeout=TIMEOUT)

    def keys(self, *keys):
        self.call("send-keys", *keys)

    def screen(self):
        return self.call("capture-pane", "-p").stdout.decode().rstrip()

    def wait_for(self, text):
        wait_until(lambda: text in self.screen(), f"{text!r} on the screen, which shows {self.screen()!r}")
        return self.screen()

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def compare(tmp_path):
    """compare(job, play): plays the same keys to the bare and the supervised job and returns both last screens."""
    opened = []

    def run(job, play):
        screens = []
        for name, prefix in (("bare", []), ("ours", None)):
            folder = tmp_path / name
            folder.mkdir()
            supervisor = Supervisor(folder)
            command = job if prefix == [] else supervisor.command(*job)
            # The command line itself must not be on the screen: it differs.
            script = folder / "script"
            script.write_text(f"clear; exec {shlex.join(map(str, command))}\n")
            window = Tmux(folder, f"cd {shlex.quote(str(folder))}; clear; sh script; echo code $?")
            opened.append(window)
            play(window)
            screens.append(window.screen())
        return screens
    yield run
    for window in opened:
        window.close()


@needs_tmux
def test_a_python_prompt_behaves_the_same(compare):
    def play(window):
        def at_prompt(*keys):
            # What is typed before the prompt is there is shown by the terminal, wherever its cursor happens to be.
            wait_until(lambda: window.screen().rstrip().endswith(">>>"), "the prompt is there")
            window.keys(*keys)
        at_prompt("2+3", "Enter")
        window.wait_for("\n5")
        at_prompt("x = 'typo", "BSpace", "BSpace", "ed'", "Enter")
        at_prompt("print(x)", "Enter")
        window.wait_for("\ntyed")
        at_prompt("Up", "Enter")
        wait_until(lambda: window.screen().count("\ntyed") == 2, "history works")
        at_prompt("C-c")
        window.wait_for("KeyboardInterrupt")
        at_prompt("C-d")
        window.wait_for("code 0")
    bare, ours = compare([sys.executable, "-q"], play)
    assert ours == bare


@needs_tmux
def test_a_progress_bar_looks_the_same(compare):
    code = ("import sys,os\n"
            "for i in range(101):\n"
            " w=os.get_terminal_size(2).columns-20\n"
            " sys.stderr.write('\\r%3d%%|%s|'%(i,('\\u2588'*(i*w//100)).ljust(w)))\n sys.stderr.flush()\n"
            " if i==50: sys.stderr.write('\\n\\x1b[31mred\\x1b[0m\\n\\x1b[A')\n"
            "sys.stderr.write('\\n')\n")

    def play(window):
        window.wait_for("code 0")
    bare, ours = compare([sys.executable, "-S", "-c", code], play)
    assert "100%" in bare
    assert ours == bare


@needs_tmux
def test_tqdm_draws_the_same_bar(compare):
    """Without the parts of the bar that tell times: they differ from run to run."""
    pytest.importorskip("tqdm")
    code = ("from tqdm import tqdm\n"
            "for epoch in tqdm(range(3), desc='epoch', bar_format='{l_bar}{bar}| {n_fmt}/{total_fmt}'):\n"
            " for step in tqdm(range(300), leave=False, bar_format='{l_bar}{bar}| {n_fmt}/{total_fmt}'): pass\n")

    def play(window):
        window.wait_for("code 0")
    bare, ours = compare([sys.executable, "-c", code], play)
    assert "3/3" in bare
    assert ours == bare


@needs_tmux
@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_pages_and_quits_the_same(compare, tmp_path):
    text = tmp_path / "text"
    text.write_text("".join(f"line {i}\n" for i in range(1, 1000)))
    screens = []

    def play(window):
        window.wait_for("line 23")
        window.keys("Space")
        window.wait_for("line 46")
        window.keys("/line 500", "Enter")
        window.wait_for("line 500")
        screens.append(window.screen())
        window.keys("q")
        window.wait_for("code 0")
    bare, ours = compare(["less", text], play)
    assert screens[0] == screens[1]
    assert ours == bare


@needs_tmux
def test_a_full_screen_program_gets_its_keys_raw(compare):
    """curses sets its modes on standard output: they must reach the terminal that the keys come from."""
    code = ("import curses\n"
            "def main(w):\n"
            " curses.curs_set(0)\n w.addstr(2,3,'size %dx%d'%w.getmaxyx())\n w.refresh()\n"
            " while True:\n"
            "  key=w.getkey()\n  w.addstr(4,3,'key '+key)\n  w.refresh()\n"
            "  if key=='q': break\n"
            "curses.wrapper(main)\nprint('left cleanly')\ninput('name? ')\n")
    screens = []

    def play(window):
        window.wait_for("size 24x80")
        window.keys("k")
        window.wait_for("key k")
        screens.append(window.screen())
        window.keys("q")
        window.wait_for("name?")
        window.keys("joe", "Enter")
        window.wait_for("code 0")
    bare, ours = compare([sys.executable, "-c", code], play)
    assert screens[0] == screens[1]
    assert ours == bare


@needs_tmux
def test_ctrl_z_and_fg_behave_the_same(tmp_path):
    for name in ("bare", "ours"):
        folder = tmp_path / name
        folder.mkdir()
        job = ["sh", "-c", "echo ready; read line; echo got $line; exit 4"]
        command = job if name == "bare" else Supervisor(folder).command(*job)
        (folder / "script").write_text("exec " + shlex.join(command) + "\n")
        window = Tmux(folder, "exec bash --norc; clear")
        try:
            window.keys(f"cd {shlex.quote(str(folder))}; PS1='> '; clear", "Enter")
            window.wait_for(">")
            window.keys("sh script; echo code $?", "Enter")
            window.wait_for("ready")
            window.keys("C-z")
            window.wait_for("Stopped")
            window.keys("echo in shell", "Enter")
            window.wait_for("\nin shell")
            window.keys("fg", "Enter")
            window.wait_for("\nsh script")
            window.keys("hello", "Enter")
            window.wait_for("got hello")
            window.keys("echo last $?", "Enter")
            window.wait_for("last 4")
        finally:
            window.close()
