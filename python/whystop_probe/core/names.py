"""Lists of names, bounded."""

_NAMES_MAX = 20


def names_text(names):
    text = ",".join(names[:_NAMES_MAX])
    return text if len(names) <= _NAMES_MAX else f"{text},...({len(names)})"
