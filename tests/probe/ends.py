"""The ways in which a Python program can end, as small programs, and how they end with the probe and without."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NATIVE_FOLDER = ROOT / "build" / "python" / "whystop_probe" / "core"

ENDS = {
    # A KeyboardInterrupt that nobody catches, wherever it comes.
    "interrupt": "raise KeyboardInterrupt",
    "interrupt with text": "raise KeyboardInterrupt('enough')",
    "interrupt signal": "import signal; signal.raise_signal(signal.SIGINT)",
    "interrupt in functions": "def f(n):\n    f(n - 1) if n else g()\ndef g():\n    raise KeyboardInterrupt\nf(60)",
    "interrupt while sleeping": "import signal, time; signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
    "signal.signal(signal.SIGALRM, signal.default_int_handler); time.sleep(30)",
    "interrupt in a thread's join": "import signal, threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    "signal.signal(signal.SIGALRM, signal.default_int_handler); signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
    "[t.join() for t in threading.enumerate() if t is not threading.current_thread()]",
    "interrupt in exec": "exec('exec(\"raise KeyboardInterrupt\")')",
    "interrupt in finally": "try:\n    1 / 0\nfinally:\n    raise KeyboardInterrupt",
    "interrupt in a context": "import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.callback(exec, 'raise KeyboardInterrupt')",
    "interrupt with a cause": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyboardInterrupt from e",
    "interrupt raised again": "try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    print('saved')\n    raise",
    "interrupt in an import": "import interrupted",
    "interrupt in a generator": "def g():\n    try:\n        yield\n    finally:\n        raise KeyboardInterrupt\nit = g(); next(it); it.close()",
    "interrupt in asyncio": "import asyncio, os, signal\nasync def main():\n    os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(30)\nasyncio.run(main())",
    "interrupt of a subclass": "class Mine(KeyboardInterrupt): pass\nraise Mine('mine')",
    "interrupt in a group": "raise BaseExceptionGroup('two', [KeyboardInterrupt(), ValueError(1)])",
    "interrupt in atexit": "import atexit\ndef f():\n    raise KeyboardInterrupt\natexit.register(f)",
    "interrupt in atexit after an exception": "import atexit\ndef f():\n    raise KeyboardInterrupt\natexit.register(f)\n1 / 0",
    "interrupt, then atexit speaks": "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt",
    "interrupt in __del__": "class D:\n    def __del__(self):\n        raise KeyboardInterrupt\nd = D(); del d; print('on')",
    "interrupt in __del__ at the end": "class D:\n    def __del__(self):\n        raise KeyboardInterrupt\nd = D()",
    "interrupt in a thread": "import threading\ndef f():\n    raise KeyboardInterrupt\nt = threading.Thread(target=f); t.start(); t.join(); print('on')",
    "interrupt in excepthook": "import sys\ndef hook(*a):\n    raise KeyboardInterrupt\nsys.excepthook = hook\n1 / 0",
    "interrupt seen by a hook of the user": "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\nraise KeyboardInterrupt",
    "interrupt and the hook chains": "import sys\nold = sys.excepthook\nsys.excepthook = lambda *a: (print('mine'), old(*a))\nraise KeyboardInterrupt",
    "interrupt and the default hook": "import sys\nsys.excepthook = lambda *a: sys.__excepthook__(*a)\nraise KeyboardInterrupt",
    "interrupt shown by hand": "import sys\ntry:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    sys.excepthook(*sys.exc_info())\nprint('goes on')",
    "interrupt caught": "try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    print('caught')",
    "interrupt caught, exit 130": "import sys\ntry:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    sys.exit(130)",
    "interrupt with the default action": "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); signal.raise_signal(signal.SIGINT)",
    "interrupt ignored": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.raise_signal(signal.SIGINT); print('on')",
    "interrupt handled": "import signal; signal.signal(signal.SIGINT, lambda *a: print('mine')); signal.raise_signal(signal.SIGINT)",
    "interrupt with stderr closed": "import sys; sys.stderr.close()\nraise KeyboardInterrupt",
    "interrupt without stderr": "import sys; sys.stderr = None\nraise KeyboardInterrupt",
    "interrupt in run_path": "import runpy; runpy.run_path('raises.py', run_name='__main__')",
    # SystemExit with odd values.
    **{f"exit {value}": f"raise SystemExit({value})" for value in (
        "", "None", "0", "1", "3", "255", "256", "-1", "2**40", "True", "False", "1.5", "'text'", "b'text'", "('a', 2)", "[]", "SystemExit(4)")},
    "exit of two values": "raise SystemExit(1, 2)",
    "exit with an unprintable value": "class X:\n    def __str__(self):\n        raise ValueError\nraise SystemExit(X())",
    "exit with a code of its own": "class X(SystemExit):\n    @property\n    def code(self):\n        raise ValueError\nraise X(5)",
    "exit in a thread": "import sys, threading\nt = threading.Thread(target=sys.exit, args=(9,)); t.start(); t.join(); print('on')",
    "exit in atexit": "import atexit, sys\natexit.register(sys.exit, 6)",
    "exit in excepthook": "import sys\nsys.excepthook = lambda *a: sys.exit(8)\n1 / 0",
    "exit in an interrupt's handler": "import signal, sys; signal.signal(signal.SIGINT, lambda *a: sys.exit(12)); signal.raise_signal(signal.SIGINT)",
    "quit": "quit(7)",
    # Exceptions.
    "exception": "def f():\n    raise ValueError('no')\nf()",
    "exception with a chain": "try:\n    {}['a']\nexcept KeyError:\n    raise RuntimeError('b')",
    "exception with a cause": "try:\n    {}['a']\nexcept KeyError as e:\n    raise RuntimeError('b') from e",
    "exception without context": "try:\n    {}['a']\nexcept KeyError:\n    raise RuntimeError('b') from None",
    "exception with a circle": "a, b = ValueError(1), ValueError(2)\na.__context__ = b\nb.__cause__ = a\nraise a",
    "exception with notes": "e = ValueError(1)\ne.__notes__ = ['one', 'two']\nraise e",
    "exception that cannot be printed": "class X(Exception):\n    def __str__(self):\n        raise ValueError\nraise X",
    "exception that exits when printed": "class X(Exception):\n    def __str__(self):\n        raise SystemExit(3)\nraise X",
    "exception that interrupts when printed": "class X(Exception):\n    def __str__(self):\n        raise KeyboardInterrupt\nraise X",
    "exception that counts its printing": "class X(Exception):\n    n = 0\n    def __str__(self):\n        X.n += 1\n        return 'printed %d' % X.n\nraise X",
    "exception of an odd class": "class M(type):\n    @property\n    def __module__(cls):\n        raise ValueError\nclass X(Exception, metaclass=M): pass\nraise X",
    "exception with surrogates": "raise ValueError('\\udc80 \\U0001f600 \\x1b[31m')",
    "exception too deep": "def f():\n    f()\nf()",
    "exception in source of another name": "exec(compile('1 / 0', 'no such file', 'exec'))",
    "syntax error": "import wrong_syntax",
    "out of memory": "b'x' * (1 << 62)",
    "exception group": "raise ExceptionGroup('g', [ValueError(1), ExceptionGroup('h', [KeyError(2)])])",
    "exception in atexit": "import atexit\natexit.register(lambda: 1 / 0)",
    "exception in __del__": "class D:\n    def __del__(self):\n        1 / 0\nd = D(); del d",
    "exception in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); print('on')",
    "exception in a raw thread": "import _thread, time\nlock = _thread.allocate_lock(); lock.acquire()\ndef f():\n    try:\n        1 / 0\n    finally:\n        lock.release()\n_thread.start_new_thread(f, ()); lock.acquire(); time.sleep(0.1)",
    "exception in a thread with a hook": "import threading\nthreading.excepthook = lambda a: print('mine', a.exc_type)\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "exception and a hook": "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\n1 / 0",
    "exception and no hook": "import sys\ndel sys.excepthook\n1 / 0",
    "exception and a hook that is None": "import sys\nsys.excepthook = None\n1 / 0",
    "exception in the hook": "import sys\ndef hook(*a):\n    raise ValueError('in the hook')\nsys.excepthook = hook\n1 / 0",
    "exception without limit": "import sys\nsys.tracebacklimit = 0\ndef f():\n    1 / 0\nf()",
    "exception into a stderr of the user": "import sys\nclass E:\n    def write(self, t):\n        sys.__stdout__.write(t)\n    def flush(self): pass\nsys.stderr = E()\n1 / 0",
    "exception and a full stdout": "import sys\nsys.stdout = open('/dev/full', 'w'); print('x'); 1 / 0",
    "full stdout at the end": "import sys\nsys.stdout = open('/dev/full', 'w'); print('x')",
    "closed stdout": "import os\nprint('x'); os.close(1)",
    # Ends without Python's help.
    "_exit": "import os; print('lost'); os._exit(11)",
    "abort": "import os; os.abort()",
    "segmentation fault": "import ctypes; ctypes.string_at(0)",
    "segmentation fault with a fault handler": "import faulthandler, ctypes; faulthandler.enable(); ctypes.string_at(0)",
    "fault handler's dump and exit": "import faulthandler, time; faulthandler.dump_traceback_later(0.05, exit=True); time.sleep(30)",
    "exec": "import os, sys; sys.stdout.flush(); os.execvp('sh', ['sh', '-c', 'echo in sh; exit 7'])",
    "exec of Python": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'raise KeyboardInterrupt'])",
    "alarm": "import signal, time; signal.alarm(1); time.sleep(30)",
    "cpu limit": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 3))\nwhile True: pass",
    "broken pipe": "import os, signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL); r, w = os.pipe(); os.close(r); os.write(w, b'x')",
    "fork and ends": "import os, signal\nfor end in (lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGTERM), lambda: os.abort(), lambda: os.kill(os.getpid(), 2)):\n"
    "    pid = os.fork()\n    if pid == 0:\n        signal.signal(2, signal.SIG_DFL); end()\n    print(os.waitpid(pid, 0)[1] & 0x7f7f, flush=True)",
    "fork and an exception": "import os\npid = os.fork()\nif pid == 0:\n    raise KeyboardInterrupt\nprint(os.waitpid(pid, 0)[1])",
    "processes and an exception": "import multiprocessing\ndef f():\n    1 / 0\nif __name__ == '__main__':\n"
    "    p = multiprocessing.get_context('spawn').Process(target=f); p.start(); p.join(); print(p.exitcode)",
    "processes and an interrupt": "import multiprocessing\ndef f():\n    raise KeyboardInterrupt\nif __name__ == '__main__':\n"
    "    p = multiprocessing.get_context('spawn').Process(target=f); p.start(); p.join(); print(p.exitcode)",
    "daemon threads": "import threading, time\n[threading.Thread(target=time.sleep, args=(60,), daemon=True).start() for _ in range(3)]",
    # Each signal, as the program finds it.
    **{f"signal {number.name}": f"import os; os.kill(os.getpid(), {int(number)}); print('still here')"
       for number in sorted(signal.valid_signals(), key=int)
       if isinstance(number, signal.Signals) and number not in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)},
    # Each signal, handled.
    **{f"handled {number.name}": f"import os, signal; signal.signal({int(number)}, lambda *a: print('handled', a[0])); os.kill(os.getpid(), {int(number)}); print('on')"
       for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
                      signal.SIGABRT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXCPU)},
}

# How a program is given to Python.
WAYS = {
    "file": ["{file}"],
    "text": ["-c", "{text}"],
    "module": ["-m", "prog"],
    "folder": ["app"],
    "options": ["-u", "-X", "dev", "{file}"],
    "optimised": ["-OO", "-B", "{file}"],
}
WAYS_ENDS = ("interrupt", "interrupt signal", "interrupt in an import", "exit 3", "exception", "interrupt seen by a hook of the user")


def fill(made):
    """The modules that the programs import; among them a small one named torch."""
    (made / "torch").mkdir()
    (made / "torch" / "__init__.py").write_text("__version__ = '0'\n")
    (made / "interrupted.py").write_text("raise KeyboardInterrupt\n")
    (made / "raises.py").write_text("raise KeyboardInterrupt\n")
    (made / "wrong_syntax.py").write_text("def f(:\n")
    (made / "app").mkdir()


def environment(folder, probe):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("WHYSTOP", "PYTHON"))}
    variables["PYTHONPATH"] = str(folder)
    if probe:
        rings = folder / "rings"
        rings.mkdir(exist_ok=True)
        variables["WHYSTOP_RING_DIR"] = str(rings)
        variables["PYTHONPATH"] = str(ROOT / "python" / "bootstrap") + os.pathsep + str(folder)
        if NATIVE_FOLDER.is_dir():
            variables["WHYSTOP_NATIVE_DIR"] = str(NATIVE_FOLDER)
    return variables


def end(folder, text, probe, way="file", python=sys.executable):
    """How the program ended: status, stdout, stderr, without what differs from one bare run to the next."""
    for path in (folder / "prog.py", folder / "app" / "__main__.py"):
        path.write_text(text)
    words = [word.format(file="prog.py", text=text) if "{" in word else word for word in WAYS[way]]
    ran = subprocess.run([python, *words], cwd=folder, env=environment(folder, probe), stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=120, check=False, preexec_fn=default_signals)

    def plain(out):
        return re.sub(rb"0x[0-9a-f]+|(?<=object refcount : )\d+", b"N", out)

    return ran.returncode, plain(ran.stdout), plain(ran.stderr)


def default_signals():
    """As a shell would start it, whatever pytest was started with."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def compare(folder, cases, python=sys.executable):
    found = []
    for name, text, way in cases:
        bare = end(folder, text, False, way, python)
        got = end(folder, text, True, way, python)
        if got != bare:
            found.append(f"{name}: bare {bare}, with the probe {got}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
