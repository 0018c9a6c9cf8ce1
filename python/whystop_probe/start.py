"""Decides whether this process may be a trainer, and if so waits for it to import a framework."""

import os
import sys

# Programs that run Python but never train. Matched against the program's file or module name.
_HELPERS = frozenset(
    ("pip", "pip3", "uv", "conda", "ninja", "cmake", "setup.py", "cython", "jupyter-lab", "jupyter-notebook", "ipython-kernel-gateway")
)
_HELPER_MODULES = frozenset(("pip", "venv", "ensurepip", "virtualenv", "build", "torch._inductor.compile_worker"))


def start():
    """Called once by sitecustomize, before the user's program."""
    if _is_helper(getattr(sys, "orig_argv", None) or sys.argv):
        return
    if getattr(sys, "_whystop_started", False):
        return  # A .pth file may run twice in one start.
    sys._whystop_started = True
    from whystop_probe import on_import
    from whystop_probe.core import import_hook

    import_hook.install(on_import.TABLE)
    from whystop_probe.core import crash

    crash.watch_uncaught()


def _is_helper(argv):
    """True for the processes that serve a trainer: resource trackers, package managers, compilers."""
    for index, word in enumerate(argv[1:4], start=1):
        if word == "-c":
            code = argv[index + 1] if index + 1 < len(argv) else ""
            return "resource_tracker" in code or "forkserver" in code
        if word == "-m":
            return index + 1 < len(argv) and argv[index + 1].split(".__main__")[0] in _HELPER_MODULES
        if not word.startswith("-"):
            name = os.path.basename(word)
            return name in _HELPERS or "compile_worker" in word
    return False
