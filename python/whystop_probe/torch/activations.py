"""Activations, seen in short episodes of one step by module hooks; never when torch.compile is in use."""

from time import thread_time

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.torch.columns import Columns, fits
from whystop_probe.torch.tensors import nonfinite
from whystop_probe.torch.data import batch_facts

EPISODES = (1, 5, 21, 101, 301, 1001, 3001, 10001, 30001)
_MODULES_MAX = 64
_ELEMENTS_MAX = 1 << 22
_SATURATING = {"Sigmoid": (0.01, 0.99), "Tanh": (-0.99, 0.99), "Hardsigmoid": (0.0, 1.0), "Hardtanh": (-1.0, 1.0)}
_RECTIFYING = frozenset(["ReLU", "ReLU6"])
_WITH_UNITS = frozenset(["Linear", "Conv1d", "Conv2d", "Conv3d"])


class Activations:
    """Opens an episode after some steps; it ends with the next step. Each module is looked at once an episode."""

    def __init__(self, torch, training, reader, optimizers):
        self._torch = torch
        self._training = training
        self._reader = reader
        self._optimizers = optimizers
        self.handle = None  # Of the hook, while an episode is open.
        self._seen = set()
        self._names = {}
        self._looking_for_nan = False
        self._spent = 0.0
        self._columns = Columns(torch, training, "model input")
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
        self._looking_for_nan = True
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
        self._names = {}
        self._looking_for_nan = False
        self._training.governor.spend("episode", 1, self._spent)

    @quiet
    def _on_forward(self, module, inputs, output):
        key = id(module)
        name = self._names.get(key)
        if name is None or key in self._seen or len(self._seen) >= _MODULES_MAX or not module.training:
            return
        self._seen.add(key)
        start = thread_time()
        kind = type(module).__name__
        with self._torch.no_grad():
            if len(self._seen) == 1 and inputs and self._usable(inputs[0]):
                facts = batch_facts(self._reader, inputs[0])
                self._training.channel.observe("model-input", self._training.step, module=name, **facts)
                if fits(inputs[0]):
                    self._columns.add(inputs[0])
            if kind in _WITH_UNITS and inputs and self._usable(inputs[0]):
                self._rectified(name, "input", inputs[0], kind)
            if kind.startswith("BatchNorm") and inputs and self._usable(inputs[0]) and inputs[0].dim() >= 2:
                self._normed(name, kind, inputs[0])
            if self._usable(output):
                self._look_at_output(name, kind, inputs, output)
        self._spent += thread_time() - start

    def _normed(self, name, kind, tensor):
        values = tensor.numel() // tensor.shape[1]
        if self._norm_values is None or values < self._norm_values:
            self._norm_values = values
            self._training.channel.observe("norm-input", self._training.step, module=name, type=kind, samples=tensor.shape[0], values=values)

    def _usable(self, tensor):
        return isinstance(tensor, self._torch.Tensor) and self._reader.readable(tensor) and 0 < tensor.numel() <= _ELEMENTS_MAX

    def _look_at_output(self, name, kind, inputs, output):
        stats = self._reader.stats([output.detach().contiguous()])[0]
        if stats is None:
            return
        self._training.channel.writer.stats(ring.WHAT_ACTIVATION, name, self._training.step, stats)
        if kind in _RECTIFYING:
            self._rectified(name, "output", output, kind)
        elif kind in _SATURATING:
            low, high = _SATURATING[kind]
            values = output.detach()
            share = float(((values <= low) | (values >= high)).double().mean())
            self._training.channel.observe("activation", self._training.step, module=name, type=kind, side="output", saturated=share)
        if self._looking_for_nan and nonfinite(stats):
            clean = all(not nonfinite(self._reader.stats([item])[0]) for item in inputs if self._usable(item))
            own = [stat for stat in self._reader.stats([item.detach() for item in module_parameters(self._optimizers.root(), name)])]
            self._looking_for_nan = False
            self._training.channel.observe(
                "nonfinite-layer",
                self._training.step,
                module=name,
                type=kind,
                inputs_finite=clean,
                weights_finite=all(not nonfinite(stat) for stat in own),
            )

    def _rectified(self, name, side, tensor, kind):
        """Units that no sample of this batch wakes: exact zeros, where nothing is negative."""
        values = tensor.detach()
        if values.dim() < 2 or float(values.min()) < 0:
            return
        others = [axis for axis in range(values.dim()) if axis != (1 if kind.startswith("Conv") or values.dim() == 4 else values.dim() - 1)]
        asleep = values.amax(dim=others) <= 0
        self._training.channel.observe(
            "activation",
            self._training.step,
            module=name,
            type=kind,
            side=side,
            units=asleep.numel(),
            dead=int(asleep.sum()),
            zero=float((values == 0).double().mean()),
            samples=values.shape[0],
        )


def module_parameters(root, name):
    """The parameters of one module by its dotted name."""
    module = root
    for part in name.split("."):
        module = getattr(module, "_modules", {}).get(part)
        if module is None:
            return []
    return [parameter for parameter in module._parameters.values() if parameter is not None]
