"""What the observers of one process share."""


class Training:
    """The state of the training in this process, as far as it was seen. One instance; written by the observers."""

    def __init__(self, channel, governor, pulse):
        self.channel = channel
        self.governor = governor
        self.pulse = pulse  # What happens at every step.
        self.bells = {"zero_grads": [], "loss_calls": [], "scheduler_steps": []}  # Counters of calls.
        self.skipped_steps = 0
        self.compiled = False  # torch.compile was used: no module hooks from now on.
        self.saved_hooks = False  # Saved tensors have hooks (checkpointing): looking at one would run code.

    @property
    def step(self):
        """Steps of the first optimizer that stepped."""
        return self.pulse.step

    def counts(self):
        pulse = self.pulse
        counts = {name: sum(bell.count for bell in bells) for name, bells in self.bells.items()}
        counts.update(steps=pulse.steps, backwards=pulse.backwards, batches=pulse.batches, skipped_steps=self.skipped_steps)
        return counts
