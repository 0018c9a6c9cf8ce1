"""The ring file: how this process tells whystop what it does. docs/wire.md is the contract.

Nothing here raises into the caller, prints, or waits for anybody.
"""

import os
import sys

ROLE_OTHER, ROLE_TRAIN_LOSS, ROLE_VALIDATION_LOSS, ROLE_LEARNING_RATE = 0, 1, 2, 3
ROLE_GRADIENT_NORM, ROLE_LOSS_SCALE, ROLE_TRAIN_SCORE, ROLE_VALIDATION_SCORE = 4, 5, 6, 7
WHAT_WEIGHT, WHAT_GRADIENT, WHAT_UPDATE, WHAT_INPUT = 0, 1, 2, 3
WHAT_TARGET, WHAT_OUTPUT, WHAT_ACTIVATION = 4, 5, 6
STEP_SKIPPED, STEP_LAST_ONLY = 1, 2
FLAG_PROBE, FLAG_FRAMEWORK = 2, 4
DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16 = 0, 1, 2, 3


def _is_free_threaded():
    """A build without the GIL: its objects are laid out differently, and an extension of the limited API crashes there."""
    return "t" in getattr(sys, "abiflags", "") or getattr(sys, "_is_gil_enabled", lambda: True)() is False


def _load_native():
    """The extension, or None where it is missing, does not load or is not wanted."""
    if os.environ.get("WHYSTOP_NO_NATIVE") or _is_free_threaded():
        return None
    try:
        from whystop_probe.core import _native

        return _native
    except Exception:
        pass
    directory = os.environ.get("WHYSTOP_NATIVE_DIR")
    if not directory or sys.flags.ignore_environment:  # -I and -E: the environment does not say what is loaded.
        return None
    try:
        import importlib.machinery
        import importlib.util

        path = os.path.join(directory, "_native.abi3.so")
        loader = importlib.machinery.ExtensionFileLoader("whystop_probe.core._native", path)
        spec = importlib.util.spec_from_file_location("whystop_probe.core._native", path, loader=loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    except Exception:
        return None


native = _load_native()
if native is not None:
    # faulthandler lists the extensions that are loaded: a crash must look as it would without us.
    sys.modules.pop("whystop_probe.core._native", None)
tensor_stats = native.tensor_stats if native is not None else None


def open_writer():
    """A writer for this process, or None: whystop is not there, or no ring could be made."""
    if not os.environ.get("WHYSTOP_RING_DIR"):
        return None
    try:
        if native is not None:
            return native.open_writer()
        from whystop_probe.core.pure_ring import open_pure_writer

        return open_pure_writer()
    except Exception:
        return None
