"""Loaded by every Python that `whystop run` starts, because this folder is first in PYTHONPATH.

It must parse on Python 2.7 and cost next to nothing in programs that do not train. It removes every trace of
itself from the import path, lets the sitecustomize that was there before run, and starts the probe.
"""
import os
import sys


def _start():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  The user's or the distribution's own.
    except ImportError as error:
        if own is not None:
            sys.modules["sitecustomize"] = own
        missing = getattr(error, "name", None)
        if missing not in (None, "sitecustomize"):
            raise  # The user's own file fails on an import: site reports that, as it would without us.
    finally:
        _start_probe(os.path.dirname(here))


def _start_probe(package_root):
    if not os.environ.get("WHYSTOP_RING_DIR") or sys.version_info < (3, 9):
        return
    try:
        sys.path.insert(0, package_root)
        try:
            import whystop_probe.start
        finally:
            sys.path.remove(package_root)
        whystop_probe.start.start()
    except Exception:  # Whatever is wrong with the probe is no business of this program.
        pass


_start()
