"""Learning-rate schedules: what they were told, and how often they are stepped."""

from whystop_probe.core.guard import quiet

_SETTINGS = "T_max eta_min step_size gamma total_steps patience factor cooldown min_lrs threshold T_0 milestones warmup total_iters last_epoch".split()


class Schedules:
    def __init__(self, training):
        self._training = training

    @quiet
    def on_created(self, result, schedule, *rest):
        stored = getattr(schedule, "__dict__", {})
        settings = {name: stored[name] for name in _SETTINGS if isinstance(stored.get(name), (int, float))}
        self._training.channel.observe("scheduler", self._training.step, name=type(schedule).__name__, **settings)
