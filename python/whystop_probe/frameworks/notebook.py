"""A notebook's kernel: what its cells raise, and `%whystop` to ask from inside. Nothing here holds a frame or a value of the user's."""

import os

from whystop_probe.core.guard import quiet

_last = {"raised": None}  # What the last cell raised, in words; None: nothing.


def install(module):
    """Waits for the shell: a kernel makes one, a program that only imports IPython none."""
    shells = module.InteractiveShell
    original = shells.__init__

    def __init__(self, *args, **kwargs):
        shells.__init__ = original
        original(self, *args, **kwargs)
        quiet(_welcome)(self)

    shells.__init__ = __init__


def _welcome(shell):
    import atexit

    from whystop_probe.core import channel

    channel.shared().open()
    shell.events.register("post_run_cell", quiet(lambda result: _after_cell(shell, result)))
    shell.register_magic_function(_magic, "line", "whystop")
    atexit.register(quiet(_at_end))


def _after_cell(shell, result):
    error = result.error_in_exec or result.error_before_exec
    if error is None:
        _last["raised"] = None
        return
    from whystop_probe.core import crash

    told = crash.described(type(error), error, error.__traceback__)
    told["frames"] = _with_cells_named(shell, told["frames"])
    crash.tell(told, ended_process=False)
    _last["raised"] = told


def _at_end():
    """The kernel ends in good order. If its last cell had raised, that is how the notebook ended, whatever the kernel's status."""
    if _last["raised"] is not None:
        from whystop_probe.core import crash

        crash.tell(_last["raised"], ended_process=True)


def _with_cells_named(shell, frames):
    """Cells are compiled under made-up file names: "In[3]" is what the notebook shows. What called the cell is the kernel's own."""
    name_of = getattr(shell.compile, "format_code_name", None)
    lines = []
    for line in frames.split("\n"):
        file, rest = (line.split("\t", 1) + [""])[:2]
        named = name_of(file) if name_of is not None else None
        lines.append(f"{named[1]}\t{rest}" if named else line)
    return "\n".join(lines)


def _magic(line):
    """%whystop why: the verdict on this kernel's run so far. Any other command of whystop that takes a recording works too."""
    import shlex
    import subprocess

    words = shlex.split(line) or ["why"]
    recording = os.path.dirname(os.environ.get("WHYSTOP_RING_DIR", "").rstrip("/"))
    done = subprocess.run([_program(), words[0], recording, *words[1:]], capture_output=True, text=True, errors="replace", check=False)
    print(done.stdout, end="")
    if done.stderr:
        import sys

        print(done.stderr, end="", file=sys.stderr)


def _program():
    """The whystop that records us is our parent; where that cannot be asked, the one on PATH."""
    try:
        path = os.readlink(f"/proc/{os.getppid()}/exe")
        if os.path.basename(path) == "whystop":
            return path
    except OSError:
        pass
    return "whystop"
