"""What every intervention is: one change, the cause that it tests, and the places where it acts."""


class Intervention:
    """Acts at the places it overrides. `applied` counts how often it changed something: a trial in which nothing was
    changed says nothing."""

    name = ""  # In WHYSTOP_TRIAL.
    tests = ()  # Ids of the causes that a cure by this change speaks for.
    memory_only = False  # The trial measures memory: nothing that takes any may stand beside it.
    channel = None  # To the recording.

    def __init__(self, value, torch):
        self.value = value
        self.torch = torch
        self.applied = 0

    def on_seed(self, seed):
        """The seed that the program sets; returns the one to set."""
        return seed

    def on_loader(self, settings):
        """The arguments of a DataLoader, by name; changes them in place."""

    def on_optimizer(self, optimizer):
        """An optimizer was made."""

    def on_model(self, module):
        """The first training call of a module that is part of no other call."""

    def before_forward(self, module, args, kwargs):
        """Each such call; returns its arguments."""
        return args, kwargs

    def after_forward(self, module, output):
        """Each such call; returns its result."""
        return output

    def before_loss(self, function, input, target):
        """A call of one of torch's loss functions while gradients are on; returns (input, target)."""
        return input, target

    def after_loss(self, function, call, result, input, target):
        """The same call, done. `call(input, target)` asks the same function about other values."""

    def on_own_loss(self, function, call, result, input, target):
        """A loss written by hand, ahead of its backward pass: what `function` of torch gives the same, and of what."""

    def on_spread_loss(self):
        """A loss written by hand compares each output with each target."""

    def before_backward(self, loss):
        pass

    def before_step(self, optimizer):
        pass

    def after_step(self, optimizer):
        pass
