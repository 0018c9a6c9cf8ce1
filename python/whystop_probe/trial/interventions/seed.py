"""seed: another seed for all generators. Is it luck?"""

import random
import sys

from whystop_probe.trial.intervention import Intervention


class Seed(Intervention):
    tests = ()

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._shift = int(value or 1)
        random.seed = self._other(random.seed)
        self._numpy_done = False

    def _other(self, original):
        def seed(value=None, *rest):
            if isinstance(value, int):
                self.applied += 1
                value += self._shift
            return original(value, *rest)

        return seed

    def on_seed(self, seed):
        self.applied += 1
        return int(seed) + self._shift

    def on_optimizer(self, optimizer):
        """A generator that was made before its seed could be changed is moved on here."""
        numpy = sys.modules.get("numpy")
        if numpy is not None and not self._numpy_done:
            self._numpy_done = True
            numpy.random.rand(self._shift)
