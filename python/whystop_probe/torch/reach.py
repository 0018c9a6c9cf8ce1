"""How many of the calls of one module in a step the gradient comes back to: a state that is cut off between them teaches nothing of before."""

from whystop_probe.core.guard import quiet

_MODULES_MAX = 64
_CALLS_MAX = 64
_CALLS_MIN = 2


class Reach:
    """Of one episode. Keeps counts alone; a hook on an output dies with its graph and changes nothing."""

    def __init__(self):
        self._calls = {}  # name -> [calls behind the first one, calls of these that a gradient came back to]

    def on_call(self, torch, name, module, output):
        """A module was called with gradients on. Most are called once a step, and cost nothing more."""
        if name not in self._calls:
            if module._parameters and len(self._calls) < _MODULES_MAX:
                self._calls[name] = [0, 0]
            return
        outputs = [item for item in (output if isinstance(output, tuple) else (output,)) if isinstance(item, torch.Tensor) and item.requires_grad]
        counts = self._calls[name]
        if not outputs or counts[0] >= _CALLS_MAX:
            return
        counts[0] += 1
        reached = []

        @quiet
        def on_gradient(gradient):
            if not reached:
                reached.append(True)
                counts[1] += 1

        for item in outputs[:2]:
            item.register_hook(on_gradient)

    def tell(self, channel, step):
        for name, (calls, reached) in self._calls.items():
            if calls >= _CALLS_MIN and 0 < reached < calls:
                channel.observe("gradient-reach", step, module=name, calls=calls, reached=reached)
        self._calls = {}
