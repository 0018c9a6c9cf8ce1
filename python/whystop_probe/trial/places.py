"""Where a program can be changed without touching its source: seeds, loaders, the outermost call of a model, torch's loss
functions, the backward pass, the optimizer's step. A trial may replace functions openly: it is not the user's run."""

import functools
import inspect
import sys

from whystop_probe.core.weak import WeakTable
from whystop_probe.torch.losses import NAMES
from whystop_probe.trial.by_hand import ByHand


class Places:
    def __init__(self, torch):
        self._torch = torch
        self._parts = []
        self._depth = 0
        self._models = WeakTable()
        self._optimizers = WeakTable()

    def add(self, part):
        self._parts.append(part)

    def optimizers(self):
        return list(self._optimizers)

    def models(self):
        return list(self._models)

    def install(self):
        torch = self._torch
        self._wrap_forward(torch.nn.Module)
        self._parts.insert(0, ByHand(torch, self._parts))
        for name in NAMES:
            self._wrap_loss(torch.nn.functional, name)
        self._wrap_loader(torch.utils.data.DataLoader)
        self._wrap_backward(torch.autograd)
        self._wrap_seed(torch, "manual_seed")
        self._wrap_optimizer(torch.optim.Optimizer)
        hooks = sys.modules["torch.optim.optimizer"]
        hooks.register_optimizer_step_pre_hook(self._before_step)
        hooks.register_optimizer_step_post_hook(self._after_step)

    def _before_step(self, optimizer, args, kwargs):
        self._optimizers.add(optimizer)
        for part in self._parts:
            part.before_step(optimizer)

    def _after_step(self, optimizer, args, kwargs):
        for part in reversed(self._parts):
            part.after_step(optimizer)

    def _wrap_forward(self, module_class):
        original, torch = module_class.__call__, self._torch

        @functools.wraps(original)
        def call(module, *args, **kwargs):
            if self._depth or not torch.is_grad_enabled() or not self._optimizers or isinstance(module, torch.nn.modules.loss._Loss):
                return original(module, *args, **kwargs)
            self._depth += 1
            try:
                if module not in self._models and any(True for _ in module.parameters()):
                    self._models.add(module)
                    for part in self._parts:
                        part.on_model(module)
                for part in self._parts:
                    args, kwargs = part.before_forward(module, args, kwargs)
                output = original(module, *args, **kwargs)
                for part in self._parts:
                    output = part.after_forward(module, output)
                return output
            finally:
                self._depth -= 1

        module_class.__call__ = call

    def _wrap_loss(self, functional, name):
        original, torch = getattr(functional, name), self._torch

        @functools.wraps(original)
        def call(input, target, *args, **kwargs):
            if not torch.is_grad_enabled() or not isinstance(target, torch.Tensor) or not isinstance(input, torch.Tensor):
                return original(input, target, *args, **kwargs)
            for part in self._parts:
                input, target = part.before_loss(name, input, target)
            result = original(input, target, *args, **kwargs)
            for part in self._parts:
                part.after_loss(name, lambda i, t: original(i, t, *args, **kwargs), result, input, target)
            return result

        setattr(functional, name, call)

    def _wrap_loader(self, loader_class):
        original = loader_class.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)
        def init(loader, *args, **kwargs):
            bound = signature.bind(loader, *args, **kwargs)
            settings = dict(bound.arguments)
            settings.pop("self", None)
            for part in self._parts:
                part.on_loader(settings)
            return original(loader, **settings)

        loader_class.__init__ = init

    def _wrap_backward(self, autograd):
        original = autograd.backward

        @functools.wraps(original)
        def backward(tensors, *args, **kwargs):
            for part in self._parts:
                part.before_backward(tensors)
            return original(tensors, *args, **kwargs)

        autograd.backward = backward

    def _wrap_seed(self, owner, name):
        original = getattr(owner, name)

        @functools.wraps(original)
        def seed(value):
            for part in self._parts:
                value = part.on_seed(value)
            return original(value)

        setattr(owner, name, seed)

    def _wrap_optimizer(self, optimizer_class):
        original = optimizer_class.__init__

        @functools.wraps(original)
        def init(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            self._optimizers.add(optimizer)
            for part in self._parts:
                part.on_optimizer(optimizer)

        optimizer_class.__init__ = init
