"""Warnings that the program shows."""

import warnings

from whystop_probe.core.guard import quiet

_TOLD_MAX = 60
_HEAD, _TAIL = 600, 900  # Characters of a message.


def _shortened(text):
    """Its beginning, and its end: a traceback in it ends with the line that matters."""
    return text if len(text) <= _HEAD + _TAIL else text[:_HEAD] + " ... " + text[-_TAIL:]


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
            message=_shortened(str(message.message)),
            file=message.filename,
            line=message.lineno,
        )

    def shown(message):
        tell(message)
        original(message)

    warnings._showwarnmsg_impl = shown
