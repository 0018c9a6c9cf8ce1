"""What the observers of one framework share."""


def _nothing():
    """Stands in for a listener."""


class Training:
    """The state of the training by one framework, as far as it was seen. Written by that framework's observers."""

    def __init__(self, channel, governor, pulse):
        self.channel = channel
        self.governor = governor
        self.pulse = pulse  # What happens at every step.
        self.bells = {"zero_grads": [], "loss_calls": [], "scheduler_steps": []}  # Counters of calls.
        self.skipped_steps = 0
        self.other_losses = 0  # Of optimizers beside the first.
        self.tell_end = _nothing  # Called when the process ends, unless another framework made the steps.
        self.number = 1  # Of the training: one model at a time. Sweeps, folds and stages make several, one after another.
        self.began_at = 0  # The step before its first one, had it made all its steps without a break.
        self._last = 1  # That began.
        self._done = {}  # Number of a training -> the steps that it had made when another one took over.
        self.hide_code = lambda code: None  # (code of a function of ours): a compiler shall not look at it.
        self.compiled = False  # A compiler took over: what hooks would hold it up stays away from now on.
        self.saved_hooks = False  # Saved tensors have hooks (checkpointing): looking at one would run code.

    @property
    def step(self):
        """Steps of the first optimizer that stepped."""
        return self.pulse.step

    def next_one(self):
        """Another model is trained from here on."""
        self._last += 1
        self.turn_to(self._last)

    def turn_to(self, number):
        """That training goes on, or begins: one inside another, a probe on frozen features say, lets the outer one wait."""
        self._done[self.number] = self.pulse.step - self.began_at
        self.number = number
        self.began_at = self.pulse.step - self._done.get(number, 0)
        self.channel.observe("training", self.step, number=number)

    def counts(self):
        pulse = self.pulse
        counts = {name: sum(bell.count for bell in bells) for name, bells in self.bells.items()}
        counts.update(steps=pulse.steps, backwards=pulse.backwards, batches=pulse.batches)
        counts.update(skipped_steps=self.skipped_steps, other_losses=self.other_losses)
        return counts
