"""Looks at the program during a trial and says which interventions could change anything at all."""

import functools

from whystop_probe.core.guard import quiet
from whystop_probe.trial.frames import users_line
from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.scales import column_scales, odd_values
from whystop_probe.trial.shapes import is_probability, reshapable

_LOOKS = 24
_TELL_AT = (3, 12, 24, 60, 200)
_DEAD_SPREAD = 1e-12


class Survey(Intervention):
    def __init__(self, torch, training):
        super().__init__("", torch)
        self._training = training
        self._facts = {}
        self._forwards = self._losses = self._steps = 0
        self._backwards_since_step = 0
        self._known = []
        self._watch_autocast(torch.amp.autocast_mode.autocast)

    def _note(self, **facts):
        self._facts.update(facts)

    def _raise(self, name, value):
        self._facts[name] = max(self._facts.get(name, 0.0), float(value))

    def _watch_autocast(self, autocast):
        """It is left again before the step, on every kind of device: what tells is that it was entered."""
        original = autocast.__enter__

        @functools.wraps(original)
        def enter(context, *args):
            self._raise("autocast", bool(getattr(context, "_enabled", False)))
            return original(context, *args)

        autocast.__enter__ = enter

    @quiet
    def on_loader(self, settings):
        shuffled = bool(settings.get("shuffle")) or settings.get("sampler") is not None or settings.get("batch_sampler") is not None
        if not hasattr(settings.get("dataset"), "__getitem__"):
            shuffled = True  # A stream cannot be.
        self._raise("loaders", self._facts.get("loaders", 0) + 1)
        if self._facts["loaders"] == 1:
            self._note(loader_at=users_line(), unshuffled=not shuffled, batch_size=settings.get("batch_size", 1) or 0)
        self._raise("workers", settings.get("num_workers", 0) or 0)

    @quiet
    def on_model(self, module):
        self._raise("models", self._facts.get("models", 0) + 1)
        parts = list(module.modules())
        self._raise("dropout", max((float(getattr(part, "p", 0) or 0) for part in parts if "Dropout" in type(part).__name__), default=0))
        self._raise("batch_norm", any("BatchNorm" in type(part).__name__ for part in parts))
        weights = [p for p in module.parameters() if p.dim() >= 2]
        self._raise("matrices", len(weights))
        self._note(parameters=sum(p.numel() for p in module.parameters()))
        inner = [p.shape[0] for p in weights[:-1]]
        if inner:
            self._note(narrowest=min(inner))
        self._raise("symmetric", any(self._equal_rows(p) for p in weights))
        self._raise("half", any(p.dtype in (self.torch.float16, self.torch.bfloat16) for p in module.parameters()))
        self._raise("odd_init", max((self._init_oddness(p) for p in weights), default=0))
        self._raise("bias_shift", max((float(p.detach().abs().max()) for p in module.parameters() if p.dim() == 1), default=0))
        self._frozen(module)

    def _equal_rows(self, weight):
        rows = weight.detach().reshape(weight.shape[0], -1)
        return rows.shape[0] > 1 and rows.shape[1] > 1 and bool((rows - rows[:1]).abs().max() == 0)

    def _init_oddness(self, weight):
        """How far the spread of a matrix is from that of the usual initialisation, as a factor."""
        fan_in = weight[0].numel()
        if weight.numel() < 16 or fan_in < 2:
            return 0.0
        ratio = float(weight.detach().float().std()) * (3 * fan_in) ** 0.5
        return max(ratio, 1 / ratio) if ratio > _DEAD_SPREAD else 1e6

    def _frozen(self, module):
        own = {id(p) for optimizer in self._known for group in optimizer.param_groups for p in group["params"]}
        of_model = list(module.parameters())
        self._raise("frozen", sum(not p.requires_grad for p in of_model))
        self._raise("not_in_optimizer", sum(p.requires_grad and id(p) not in own for p in of_model) if own else 0)

    @quiet
    def on_optimizer(self, optimizer):
        self._known.append(optimizer)
        first = optimizer.param_groups[0]
        self._raise("weight_decay", max(float(group.get("weight_decay") or 0) for group in optimizer.param_groups))
        self._raise("optimizers", len(self._known))
        self._note(lr=float(first.get("lr", 0) or 0), optimizer_at=users_line())

    def before_forward(self, module, args, kwargs):
        self._forwards += 1
        if self._forwards <= _LOOKS:
            self._look_at_inputs(module, args, kwargs)
        return args, kwargs

    @quiet
    def _look_at_inputs(self, module, args, kwargs):
        self._raise("eval_mode", any(not part.training for part in module.modules()))
        values = next((value for value in list(args) + list(kwargs.values()) if isinstance(value, self.torch.Tensor)), None)
        if values is None or not values.dtype.is_floating_point or values.dim() < 2:
            return
        self._raise("batch", values.shape[0])
        self._raise("flat_inputs", values[0].numel())
        center, spread = column_scales(self.torch, values)
        self._raise("input_scale", float(spread.max()))
        self._raise("input_shift", float((center.abs() / spread.clamp_min(1e-6)).max()) if float(spread.max()) > 0 else 0)
        live = spread[spread > 0]
        if live.numel() > 1:
            self._raise("input_range_of_scales", float(live.max() / live.min()))
        self._raise("input_level", float(center.abs().max()))
        self._raise("odd_values", float(odd_values(self.torch, values).double().mean()))

    def before_loss(self, function, input, target):
        self._losses += 1
        if self._losses <= _LOOKS:
            self._look_at_loss(function, input, target)
        return input, target

    @quiet
    def _look_at_loss(self, function, input, target):
        self._note(loss=function)
        self._raise("probabilities", is_probability(self.torch, function, input))
        self._raise("reshapable", reshapable(function, input, target))
        if target.dtype.is_floating_point and target.numel() > 1 and function not in ("cross_entropy", "kl_div"):
            values = target.detach().double()
            self._raise("target_scale", float(values.std()))
            self._raise("target_shift", float(values.mean().abs()))

    @quiet
    def on_own_loss(self, function, call, result, input, target):
        self._losses += 1
        if self._losses <= _LOOKS:
            self._look_at_loss(function, input, target)

    def on_spread_loss(self):
        self._raise("reshapable", 1)

    def before_backward(self, loss):
        self._backwards_since_step += 1
        if "backward_at" not in self._facts:
            self._note(backward_at=users_line())
        if self._backwards_since_step == 1 and self._steps:
            self._note_left_over()

    @quiet
    def _note_left_over(self):
        grads = [p.grad for optimizer in self._known for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        left = any(bool(grad.abs().max() > 0) for grad in grads[:4])
        self._note(gradients_left=float(left))

    def after_step(self, optimizer):
        self._steps += 1
        if self._steps == 1:
            self._note(step_at=users_line())
        self._backwards_since_step = 0
        if self._steps in _TELL_AT:
            self._tell()

    @quiet
    def _tell(self):
        rates = [float(group["lr"]) for optimizer in self._known for group in optimizer.param_groups if "lr" in group]
        self._note(lr_now=max(rates, default=0.0))
        self._training.channel.observe("trial-survey", self._steps, **self._facts)
