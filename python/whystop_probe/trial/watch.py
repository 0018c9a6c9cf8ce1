"""Follows a trial: the loss of the task beside the loss of guessing, and the end of the trial when it has told."""

import collections
import os
import sys

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.trial.guess import Guess
from whystop_probe.trial.intervention import Intervention

_TELL_AT = (1, 20, 50, 100, 200, 400, 800, 1600, 3200)
_LEARNED_SHARE = 0.1  # Of the loss of guessing: a trial that stays below it has told.
_LEARNED_STEPS = 60
_CARRIES_SHARE = 0.5  # The same of samples that were held out.
_SAVED_BYTES_MAX = 1 << 30
_TOLD = "WHYSTOP_TRIAL_TOLD"  # The file that says so.


class Watch(Intervention):
    def __init__(self, torch, training, steps_max, save_to, finish):
        super().__init__("", torch)
        self.interventions = []
        self.before_end = None
        self.guesses = True  # Costs as much memory as the outputs.
        self._training = training
        self._steps_max = steps_max
        self._save_to = save_to
        self._finish = finish
        self._guess = Guess(torch)
        self._task, self._guessed = 0.0, 0.0
        self._calls, self._unknown = 0, False
        self._steps = 0
        self._first = None
        self._models = []
        self._low_since = None
        self._held = collections.deque(maxlen=_LEARNED_STEPS)
        self._seeded = False
        self._last = None

    def on_model(self, module):
        if self._save_to:
            self._models.append(module)  # The function that made it may be left before the end.

    def on_seed(self, seed):
        self._seeded = True
        return seed

    def after_loss(self, function, call, result, input, target):
        if result.requires_grad:
            self._add(function, call, result, input, target)

    def on_own_loss(self, function, call, result, input, target):
        self._add(function, call, result, input, target)

    def _add(self, function, call, result, input, target):
        if not self.guesses or result.numel() != 1:
            return
        self._calls += 1
        self._task += float(result.detach())
        cost = self._cost(function, call, input, target)
        if cost is None:
            self._unknown = True
        else:
            self._guessed += cost

    @quiet
    def _cost(self, function, call, input, target):
        return self._guess.cost(function, call, input, target)

    def before_backward(self, loss):
        """The loss calls since the last one belong to this pass."""
        if self._calls:
            self._last = (self._task, None if self._unknown else self._guessed)
        self._task, self._guessed, self._calls, self._unknown = 0.0, 0.0, 0, False

    def after_step(self, optimizer):
        if self._first is None:
            self._first = id(optimizer)
        if id(optimizer) != self._first:
            return
        last, self._last = self._last, None
        self.step(*last or (None, None))

    def step(self, task, guessed):
        """One step was made, at this loss; guessing would cost so much, where that is known."""
        self._steps += 1
        if task is not None:
            self._write(task, guessed)
        self._write_held()
        if self._steps in _TELL_AT:
            self.tell()
        if (self._steps_max and self._steps >= self._steps_max) or self._has_learned():
            self.end()

    def _write(self, task, guessed):
        writer = self._training.channel.writer
        writer.scalar("trial/task", ring.ROLE_OTHER, self._steps, task)
        if guessed is None:
            self._low_since = None
            return
        writer.scalar("trial/guess", ring.ROLE_OTHER, self._steps, guessed)
        low = task < _LEARNED_SHARE * guessed
        self._low_since = (self._low_since or self._steps) if low else None

    def _write_held(self):
        for intervention in self.interventions:
            held = getattr(intervention, "held", None)
            if held is not None:
                self._training.channel.writer.scalar("trial/held", ring.ROLE_OTHER, self._steps, held[0] / held[1])
                self._held.append(held[0] / held[1])

    def _has_learned(self):
        if any(hasattr(intervention, "held") for intervention in self.interventions):
            return len(self._held) == _LEARNED_STEPS and sum(self._held) < _CARRIES_SHARE * _LEARNED_STEPS
        return self._low_since is not None and self._steps - self._low_since >= _LEARNED_STEPS

    @quiet
    def tell(self):
        for intervention in self.interventions:
            self._training.channel.observe(
                "trial-change", self._steps, intervention=intervention.name, value=str(intervention.value), applied=intervention.applied,
                seeded=self._seeded, facts=getattr(intervention, "facts", None))
        if not self.interventions:
            self._training.channel.observe("trial-change", self._steps, intervention="as-is", value="", applied=1, seeded=self._seeded)

    def end(self):
        """Ends this process here: an exception could be caught by the program."""
        self.tell()
        self.save()
        if self.before_end is not None:
            self.before_end()
        self._finish()
        self._say_told()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    @quiet
    def _say_told(self):
        """Whatever goes on after this process, a shell script say, is not waited for."""
        path = os.environ.get(_TOLD)
        if path:
            open(path, "w").close()

    @quiet
    def save(self):
        """What was learned, so that another trial can go on from there."""
        if not self._save_to or os.path.exists(self._save_to):
            return
        models = self._models
        size = sum(p.numel() * p.element_size() for model in models for p in model.parameters())
        if not models or size > _SAVED_BYTES_MAX:
            return
        self.torch.save([model.state_dict() for model in models], self._save_to)
