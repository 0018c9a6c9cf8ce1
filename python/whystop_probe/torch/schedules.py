"""Learning-rate schedules: what they were told, and how often they are stepped."""

from whystop_probe.core.guard import quiet

_SETTINGS = "T_max eta_min step_size gamma total_steps patience factor cooldown min_lrs threshold T_0 milestones warmup total_iters last_epoch".split()


def _warmup_moves(stored):
    """How often a schedule must be moved until its rate has risen as far as it will; None: it does not begin low, or hides it."""
    if "start_factor" in stored:  # LinearLR
        return stored["total_iters"] if stored["start_factor"] < stored["end_factor"] else None
    if "_schedule_phases" in stored:  # OneCycleLR
        return stored["_schedule_phases"][0]["end_step"]
    lambdas = stored.get("lr_lambdas")  # The schedules of transformers keep their settings in a partial function.
    keywords = getattr(lambdas[0], "keywords", None) if lambdas else None
    return keywords.get("num_warmup_steps") or None if isinstance(keywords, dict) else None


class Schedules:
    def __init__(self, training):
        self._training = training

    @quiet
    def on_created(self, result, schedule, *rest):
        stored = getattr(schedule, "__dict__", {})
        settings = {name: stored[name] for name in _SETTINGS if isinstance(stored.get(name), (int, float))}
        warmup = _warmup_moves(stored)
        if warmup is not None:
            settings["warmup_moves"] = warmup
        self._training.channel.observe("scheduler", self._training.step, name=type(schedule).__name__, **settings)
