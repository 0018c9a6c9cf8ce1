"""What the names of a framework's metrics mean."""

from whystop_probe.core import ring
from whystop_probe.core.kinds import plain

_HELD_OUT = ("val", "eval", "valid", "test", "dev")
_SCORES = ("acc", "f1", "auc", "map", "iou", "bleu", "rouge", "precision", "recall", "score", "r2", "dice")


def role_of(name):
    """The role of a metric that a framework logged. Training losses are other: the probe has the real one."""
    words = name.lower()
    held_out = words.startswith(_HELD_OUT)
    if "loss" in words:
        return ring.ROLE_VALIDATION_LOSS if held_out else ring.ROLE_OTHER
    if any(score in words for score in _SCORES):
        return ring.ROLE_VALIDATION_SCORE if held_out else ring.ROLE_TRAIN_SCORE
    return ring.ROLE_OTHER


def tell(training, step, metrics, skip=()):
    """Writes numbers of a dict as series."""
    for name, value in list(metrics.items())[:64]:
        value = plain(value)
        if name not in skip and isinstance(value, (int, float)):
            training.channel.writer.scalar(str(name), role_of(str(name)), step, float(value))
