"""Signs that a policy is being trained: its losses mean something else than those of other models."""

import sys
import types

# Libraries of environments, and of agents that bring their own loops.
_LIBRARIES = (
    "gymnasium gym gym3 pettingzoo dm_control dm_env procgen ale_py atari_py minigrid brax envpool unityagents mlagents_envs "
    "stable_baselines3 sb3_contrib torchrl tianshou rllib pfrl garage"
).split()


_MODULES_MAX = 200
_VALUES_MAX = 2000


def _used():
    """The packages that the program's own modules hold something of, or name in a function. A library that it uses may import an
    environment's for its own sake."""
    found = set()
    for module in [module for module in list(sys.modules.values()) if _is_own(module)][:_MODULES_MAX]:
        for value in list(vars(module).values())[:_VALUES_MAX]:
            if isinstance(value, types.ModuleType):
                found.add(value.__name__.partition(".")[0])
            elif isinstance(value, types.FunctionType):
                found.update(value.__code__.co_names)
                found.add(str(value.__module__).partition(".")[0])
            else:
                kind = value if isinstance(value, type) else type(value)
                found.add(str(kind.__module__).partition(".")[0])
    return found


def _is_own(module):
    path = getattr(module, "__file__", None)
    return getattr(module, "__name__", "") == "__main__" or (
        isinstance(path, str) and "site-packages" not in path and "dist-packages" not in path and not path.startswith((sys.prefix, sys.base_prefix))
    )


class Environment:
    """Looks once training goes on, and at the end; tells what it finds once."""

    def __init__(self, training):
        self._training = training
        self._told = False

    def tell(self):
        if self._told or not any(name in sys.modules for name in _LIBRARIES):
            return
        found = sorted(set(_LIBRARIES).intersection(_used()))
        if found:
            self._told = True
            self._training.channel.observe("environment", self._training.step, libraries=",".join(found))
