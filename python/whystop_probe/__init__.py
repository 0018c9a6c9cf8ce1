"""whystop's probe: observes a training process from inside and writes what it saw into a ring file.

It decides nothing, prints nothing and raises nothing. Without a supervisor (no WHYSTOP_RING_DIR) it does nothing.
"""

__version__ = "0.1.0"
