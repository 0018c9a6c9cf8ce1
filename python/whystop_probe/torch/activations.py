"""Activations, seen in short episodes of one step by module hooks; never when torch.compile is in use."""

from time import thread_time

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.torch.columns import Columns, fits
from whystop_probe.torch.data import batch_facts
from whystop_probe.torch.reach import Reach
from whystop_probe.torch.tensors import nonfinite, shape_text

EPISODES = (1, 5, 21, 101, 301, 1001, 3001, 10001, 30001)
_ROWS_EVERY, _ROWS_UNTIL = 10, 1000  # Steps.
_MODULES_MAX = 64
_ELEMENTS_MAX = 1 << 22
_SATURATING = {"Sigmoid": (0.01, 0.99), "Tanh": (-0.99, 0.99), "Hardsigmoid": (0.0, 1.0), "Hardtanh": (-1.0, 1.0)}
_RECTIFYING = frozenset(["ReLU", "ReLU6"])
_WITH_UNITS = frozenset(["Linear", "Conv1d", "Conv2d", "Conv3d"])


class Activations:
    """Opens an episode after some steps; it ends with the next step. Each module is looked at once an episode."""

    def __init__(self, torch, training, reader, optimizers, loss_calls):
        self._torch = torch
        self._training = training
        self._reader = reader
        self._optimizers = optimizers
        self._loss_calls = loss_calls
        self.handle = None  # Of the hook, while an episode is open.
        self._seen = set()
        self._names = {}
        self._hunts = self._hunt = self._caught = 0  # For the layer of a NaN: how many there were, the one that is on, the last that found it.
        self._spent = 0.0
        self._columns = Columns(torch, training, "model input")
        self._reach = Reach()
        self._tells_half = True  # Until a layer that computes in float16 was told.
        self._norm_values = None  # The fewest values that a batch norm took its mean of.

    @quiet
    def after_step(self):
        if self.handle is not None:
            self.close()
        elif self._training.governor.affords("episode"):
            self.open()

    @quiet
    def on_alarm(self):
        """Something turned non-finite: the next forward pass may name the layer."""
        self._hunts += 1
        self._hunt = self._hunts
        if self.handle is None:
            self.open()

    def open(self):
        root = self._optimizers.root()
        if root is None or self._training.compiled or self._training.pulse.inside_step:
            return
        self._names = {id(module): name or type(root).__name__ for name, module in root.named_modules()}
        self._seen = set()
        self._spent = 0.0
        self._training.pulse.attention_at = 0  # The next step ends the episode.
        self.handle = self._torch.nn.modules.module.register_module_forward_hook(self._on_forward)

    def close(self):
        self.handle.remove()
        self.handle = None
        self._reach.tell(self._training.channel, self._training.step)
        self._names = {}
        self._hunt = 0
        self._training.governor.spend("episode", 1, self._spent)

    @quiet
    def _on_forward(self, module, inputs, output):
        key = id(module)
        name = self._names.get(key)
        if name is not None and module.training and self._torch.is_grad_enabled():
            self._reach.on_call(self._torch, name, module, output)
        if name is None or key in self._seen or len(self._seen) >= _MODULES_MAX or not module.training:
            return
        self._seen.add(key)
        start = thread_time()
        given = [item for item in inputs if self._usable(item)]
        pass_through = given + [output] if self._usable(output) else given
        own = [item.detach() for item in module._parameters.values() if item is not None] if self._hunt > self._caught else []
        look = _Look(name, type(module).__name__, self._training.step, len(self._seen) == 1, len(given), len(pass_through) > len(given))
        look.hunt = self._hunt
        look.shape = shape_text(given[0]) if given else None
        if self._tells_half and getattr(output, "dtype", None) is self._torch.float16:
            self._tells_half = False
            self._training.channel.observe("half-output", look.step, module=name)
        if look.kind.startswith("BatchNorm") and given and given[0].dim() >= 2:
            self._normed(look, given[0])
        if pass_through:
            self._reader.fetch(pass_through + own, quiet(lambda here: self._arrived(look, here)))
        self._spent += thread_time() - start

    def _arrived(self, look, here):
        """The tensors of one module, in host memory: what it was given, what it gave, and its own where a NaN is looked for."""
        given, output, own = here[: look.given], here[look.given] if look.gave else None, here[look.given + look.gave :]
        with self._torch.no_grad():
            if look.first and given:
                self._training.channel.observe("model-input", look.step, module=look.name, **batch_facts(self._reader, given[0], look.shape))
                if fits(given[0]) and not self._columns.full:
                    self._add_rows(given[0])
            if look.kind in _WITH_UNITS and given:
                self._rectified(look, "input", given[0])
                if not look.first:
                    self._squashed(look, given[0])
            if output is not None:
                self._look_at_output(look, given, output, own)

    @property
    def next_rows_at(self):
        """At which step more rows of the inputs are wanted; a large number: at none."""
        step = self._training.step
        return step + _ROWS_EVERY if step < _ROWS_UNTIL and self._columns.worth_more else 1 << 60

    def _add_rows(self, table):
        """With the targets that the loss of this step compares the outputs with, where it has one for each row."""
        if self._training.pulse.batches:
            return self._columns.add(table)  # A loader's batches hold both, and are looked at there.
        rows = table.detach().clone()

        def hears_target(target):
            one_each = target.numel() == rows.shape[0] and self._reader.readable(target)
            self._columns.add(rows, target if one_each else None)

        self._loss_calls.look_at_next(hears_target)

    def _normed(self, look, tensor):
        values = tensor.numel() // tensor.shape[1]
        if self._norm_values is None or values < self._norm_values:
            self._norm_values = values
            self._training.channel.observe("norm-input", look.step, module=look.name, type=look.kind, samples=tensor.shape[0], values=values)

    def _usable(self, tensor):
        return isinstance(tensor, self._torch.Tensor) and self._reader.within_reach(tensor) and 0 < tensor.numel() <= _ELEMENTS_MAX

    def _look_at_output(self, look, given, output, own):
        stats = self._reader.stats([output.detach().contiguous()])[0]
        if stats is None:
            return
        channel = self._training.channel
        channel.writer.stats(ring.WHAT_ACTIVATION, look.name, look.step, stats)
        if look.kind in _RECTIFYING:
            self._rectified(look, "output", output)
        elif look.kind in _SATURATING:
            low, high = _SATURATING[look.kind]
            values = output.detach()
            share = float(((values <= low) | (values >= high)).double().mean())
            channel.observe("activation", look.step, module=look.name, type=look.kind, side="output", saturated=share)
        if look.hunt > self._caught and nonfinite(stats):
            self._caught = look.hunt
            clean = [not any(nonfinite(found) for found in self._reader.stats(tensors)) for tensors in (given, own)]
            channel.observe("nonfinite-layer", look.step, module=look.name, type=look.kind, inputs_finite=clean[0], weights_finite=clean[1])

    def _squashed(self, look, tensor):
        """Values between -1 and 1 that a layer is given, as `torch.tanh` called as a function makes them."""
        values = tensor.detach()
        low, high = float(values.min()), float(values.max())
        if -1 <= low < 0 < high <= 1:
            share = float((values.abs() >= _SATURATING["Tanh"][1]).double().mean())
            self._training.channel.observe("activation", look.step, module=look.name, type=look.kind, side="input", saturated=share)

    def _rectified(self, look, side, tensor):
        """Units that no sample of this batch wakes: exact zeros, where nothing is negative."""
        values = tensor.detach()
        if values.dim() < 2 or float(values.min()) < 0:
            return
        units = 1 if look.kind.startswith("Conv") or values.dim() == 4 else values.dim() - 1
        asleep = values.amax(dim=[axis for axis in range(values.dim()) if axis != units]) <= 0
        self._training.channel.observe(
            "activation",
            look.step,
            module=look.name,
            type=look.kind,
            side=side,
            units=asleep.numel(),
            dead=int(asleep.sum()),
            zero=float((values == 0).double().mean()),
            samples=values.shape[0],
        )


class _Look:
    """At one module in one step, whose tensors may still be on their way."""

    def __init__(self, name, kind, step, first, given, gave):
        self.name, self.kind, self.step = name, kind, step
        self.first = first  # Of the step's modules.
        self.given = given  # How many tensors it was given,
        self.gave = gave  # and whether it gave one.
        self.hunt = 0  # The one that it belongs to.
        self.shape = None  # Of the first that it was given.
