"""bf16, checkpoint: what 16 bits, or computing activations a second time, would save of memory. For `whystop fit`."""

import functools
import math

from whystop_probe.trial.intervention import Intervention


class SixteenBits(Intervention):
    """bf16: the model computes under autocast."""

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._context = None

    def before_forward(self, module, args, kwargs):
        device = next((p.device.type for p in module.parameters()), "cpu")
        self._context = self.torch.autocast(device, self.torch.bfloat16)
        self._context.__enter__()
        self.applied += 1
        return args, kwargs

    def after_forward(self, module, output):
        context, self._context = self._context, None
        if context is not None:
            context.__exit__(None, None, None)
        return output.float() if isinstance(output, self.torch.Tensor) and output.dtype == self.torch.bfloat16 else output


class Checkpoint(Intervention):
    """checkpoint: the longest chain of layers keeps the inputs of its parts only."""

    def on_model(self, module):
        nn = self.torch.nn
        chains = [part for part in module.modules() if isinstance(part, (nn.Sequential, nn.ModuleList)) and len(part) > 2]
        if not chains:
            return
        chain = max(chains, key=lambda part: (sum(p.numel() for p in part.parameters()), len(part)))
        if isinstance(chain, nn.ModuleList):
            for block in chain:
                block.forward = self._twice(block.forward)
        else:
            chain.forward = self._in_parts(list(chain))
        self.applied += 1

    def _twice(self, forward):
        checkpoint, torch = self.torch.utils.checkpoint.checkpoint, self.torch

        @functools.wraps(forward)
        def call(*args, **kwargs):
            if not torch.is_grad_enabled():
                return forward(*args, **kwargs)
            return checkpoint(forward, *args, use_reentrant=False, **kwargs)

        return call

    def _in_parts(self, layers):
        length = math.ceil(math.sqrt(len(layers)))
        parts = [self._twice(self._chained(layers[at : at + length])) for at in range(0, len(layers), length)]
        return self._chained(parts)

    def _chained(self, functions):
        def call(value):
            for function in functions:
                value = function(value)
            return value

        return call
