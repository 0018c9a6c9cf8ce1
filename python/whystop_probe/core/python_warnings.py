"""Warnings that the program shows."""

import warnings

from whystop_probe.core.guard import quiet

_TOLD_MAX = 60


def install(training):
    """Listens behind the filters and behind `showwarning`, so that whatever the user changes there still works."""
    original = getattr(warnings, "_showwarnmsg_impl", None)
    if original is None:
        return
    told = set()

    @quiet
    def tell(message):
        key = (message.category, message.filename, message.lineno)
        if key in told or len(told) >= _TOLD_MAX:
            return
        told.add(key)
        training.channel.observe(
            "warning",
            training.step,
            category=message.category.__name__,
            message=str(message.message)[:600],
            file=message.filename,
            line=message.lineno,
        )

    def shown(message):
        tell(message)
        original(message)

    warnings._showwarnmsg_impl = shown
