"""Keeps every failure of the probe inside the probe."""

import os
import sys

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY_FOLDER = os.path.dirname(os.path.abspath(os.__file__))
_FAILURES_KEPT_MAX = 8

failures = {}  # "module.function: Error" -> how often; shown by the "probe-failure" observation.
inject = None  # Tests set this to a function that raises inside every hook.


def quiet(function):
    """A hook that never raises into user code. What a signal handler of the user raises meanwhile still passes."""

    def guarded(*args):
        try:
            if inject is not None:
                inject(function)
            return function(*args)
        except Exception as error:
            if not _is_own(error):
                raise
            _count(function, error)
            return None

    guarded.__name__, guarded.__qualname__ = function.__name__, function.__qualname__  # functools costs an import.
    return guarded


def _is_own(error):
    """Whether the innermost frame is the probe's, an installed package's or the standard library's: else a user's signal handler
    ran while a hook was on the stack, and its exception belongs to the user."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return True
    name = traceback.tb_frame.f_code.co_filename
    return (
        name.startswith((_OWN_FOLDER, _LIBRARY_FOLDER, "<"))
        or f"{os.sep}site-packages{os.sep}" in name
        or f"{os.sep}dist-packages{os.sep}" in name
        or inject is not None
    )


def _count(function, error):
    key = f"{function.__module__}.{function.__qualname__}: {type(error).__name__}"
    if "WHYSTOP_DEBUG" in os.environ and key not in failures:
        import traceback

        traceback.print_exc(file=sys.__stderr__)
    if key in failures or len(failures) < _FAILURES_KEPT_MAX:
        failures[key] = failures.get(key, 0) + 1
