"""How long this thread was ready to run and had to wait for a processor."""

import os

_TEXT_MAX = 128


class RunDelay:
    """Reads the kernel's figure. Where there is none, nothing was waited for."""

    def __init__(self, path="/proc/thread-self/schedstat"):
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = None

    def seconds(self):
        if self._file is None:
            return 0.0
        try:
            return 1e-9 * int(os.pread(self._file, _TEXT_MAX, 0).split()[1])
        except (OSError, IndexError, ValueError):
            self._file = None
            return 0.0
