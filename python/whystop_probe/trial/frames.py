"""Where in the user's own source something happens."""

import os
import sys
import sysconfig

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
_DEPTH_MAX = 60


def users_line():
    """ "file:line" of the innermost frame that is the user's, or None."""
    frame = sys._getframe(1)
    for _ in range(_DEPTH_MAX):
        if frame is None:
            return None
        name = frame.f_code.co_filename
        if not name.startswith((_OWN, "<")) and not name.startswith(_LIBRARIES) and "site-packages" not in name:
            return f"{os.path.abspath(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return None
