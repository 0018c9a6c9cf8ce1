"""Signs that a policy is being trained: its losses mean something else than those of other models."""

import sys

# Libraries of environments, and of agents that bring their own loops.
_LIBRARIES = (
    "gymnasium gym gym3 pettingzoo dm_control dm_env procgen ale_py atari_py minigrid brax envpool unityagents mlagents_envs "
    "stable_baselines3 sb3_contrib torchrl tianshou rllib pfrl garage"
).split()


class Environment:
    """Looks once training goes on, and at the end; tells what it finds once."""

    def __init__(self, training):
        self._training = training
        self._told = False

    def tell(self):
        if self._told:
            return
        found = [name for name in _LIBRARIES if name in sys.modules]
        if found:
            self._told = True
            self._training.channel.observe("environment", self._training.step, libraries=",".join(found))
