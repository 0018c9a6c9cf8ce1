"""What the observers of one process share."""


class Training:
    """The state of the training in this process, as far as it was seen. One instance; written by the observers."""

    def __init__(self, channel, governor):
        self.channel = channel
        self.governor = governor
        self.step = 0  # Steps of the first optimizer that stepped.
        self.wait_s = 0.0  # Time spent waiting for data since the last step.
        self.losses = []  # Losses of the backward passes since the last step.
        self.inside_step = False  # The optimizer is running a closure.
        self.compiled = False  # torch.compile was used: no module hooks from now on.
        self.saved_hooks = False  # Saved tensors have hooks (checkpointing): looking at one would run code.
        self.counts = {"steps": 0, "backwards": 0, "zero_grads": 0, "loss_calls": 0, "batches": 0, "skipped_steps": 0, "scheduler_steps": 0}
        self.sample_cost_s = 0.0  # What the next sampling of parameters is expected to cost.
        self.loop_event = None  # Called with the kind of event at every point where the loop can be looked at.
        self.loop_kinds = frozenset()  # The kinds that it wants to hear of.
