"""Run by the whystop.pth that `whystop install-hook` writes: starts the probe where PYTHONPATH is not heeded (-E, -I).

In all other Pythons sitecustomize does the same a moment later, and the second start does nothing. Must parse on Python 2.7.
"""
import os
import sys


def _start(package_root):
    if not os.environ.get("WHYSTOP_RING_DIR") or sys.version_info < (3, 9) or getattr(sys, "_whystop_started", False):
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


_start(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
