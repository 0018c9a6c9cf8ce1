"""patience=10: whatever is called patience becomes ten times larger, where it is an attribute or a variable of a module. Tests
early-stop-patience."""

import gc
import sys

from whystop_probe.trial.intervention import Intervention

_OBJECTS_MAX = 2_000_000


def _is_patience(name, value):
    return isinstance(name, str) and "patience" in name.lower() and type(value) in (int, float) and value >= 0


class Patience(Intervention):
    tests = ("early-stop-patience",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._done = False
        self.facts = None

    def before_step(self, optimizer):
        if self._done:
            return
        self._done = True
        variables = vars(sys.modules["__main__"])
        holders = [variables]
        for item in gc.get_objects()[:_OBJECTS_MAX]:
            own = getattr(type(item), "__module__", "") != "builtins" and type(item).__dictoffset__ and getattr(item, "__dict__", None)
            if type(own) is dict and any(isinstance(name, str) and "patience" in name.lower() for name in own):
                if "lr_scheduler" not in type(item).__module__:  # The schedule's own patience is no early stopping.
                    holders.append(own)
        for holder in holders:
            for name, value in list(holder.items()):
                if _is_patience(name, value):
                    holder[name] = max(50, int(value * float(self.value or 10)))
                    self.facts = f"{name} {value} -> {holder[name]}"
                    self.applied += 1
