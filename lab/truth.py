"""The label of a run by what it did, and not by what was meant or what whystop says of it.

A program scores itself at its end: balanced accuracy or R squared on its own training data. Harm is the share of its twin's gain over
guessing that a sick program did not reach. A mistake in the program (a call that is missing) needs no twin: it is sick when it has not
learned. That score says nothing of held-out data: a program that prints a loss of those is labelled by it as well.
"""

import math
from typing import NamedTuple, Optional

SICK, HEALTHY, UNCLEAR = "sick", "healthy", "unclear"
HARM_SICK = 0.30     # Nearly a third of what could be learned was not.
HARM_NONE = 0.05     # The difference that another seed makes.
GAIN_CLASSES = 0.5   # A sound program gains at least half of what is above guessing...
GAIN_VALUES = 0.25   # ...or explains a quarter of the variance (the diabetes data hold no more than half).
RISE_SICK = 1.5      # The held-out loss ended half as high again as its best...
RISE_NONE = 1.2      # ...or near it.
HELD_OUT_MIN = 6     # Values that say anything.


class Score(NamedTuple):
    value: float
    floor: float  # Of guessing

    def gain(self) -> float:
        share = (self.value - self.floor) / (1 - self.floor)
        return share if math.isfinite(share) else -1.0

    def learned(self) -> bool:
        return self.gain() >= (GAIN_VALUES if self.floor == 0 else GAIN_CLASSES)


def state_of(judged: str, score: Optional[Score], twin: Optional[Score]) -> str:
    if judged == "always":
        return SICK
    if judged == "healthy":
        return HEALTHY if score is not None and score.learned() else UNCLEAR
    if judged == "hurts":
        return UNCLEAR if score is not None and score.learned() else SICK
    if twin is None or not twin.learned():
        return UNCLEAR
    harm = 1.0 if score is None else (twin.gain() - max(score.gain(), 0)) / twin.gain()
    if harm >= HARM_SICK:
        return SICK
    return HEALTHY if harm <= HARM_NONE else UNCLEAR


def held_out_state(losses: list) -> str:
    """By the held-out losses that the program printed: sick where they rose, healthy where they did not or nothing was printed."""
    if len(losses) < HELD_OUT_MIN or min(losses) <= 0:
        return HEALTHY
    rise = sorted(losses[-3:])[1] / min(losses)
    return SICK if rise >= RISE_SICK else HEALTHY if rise <= RISE_NONE else UNCLEAR
