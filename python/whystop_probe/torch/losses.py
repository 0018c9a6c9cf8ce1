"""Calls of torch's loss functions: what they were given, so that a wrong pairing shows."""

from time import thread_time

from whystop_probe.core.guard import quiet
from whystop_probe.core.pulse import LOSS, Bell
from whystop_probe.loop.origin import drawn
from whystop_probe.torch.tensors import dtype_text, moments, nonfinite, shape_text

# Functions of torch.nn.functional with (input, target, ...); the loss modules call them.
NAMES = (
    "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss huber_loss "
    "kl_div soft_margin_loss multilabel_margin_loss multi_margin_loss multilabel_soft_margin_loss"
).split()
_CLASS_TARGETS = frozenset(["cross_entropy", "nll_loss"])
_SAMPLED = (1, 2, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
_ELEMENTS_MAX = 1 << 20
_WEIGHTS_MAX = 64
_SUM_MARGIN = 1e-4  # Softmax in float32 sums to 1 within some 1e-7 per class; half precision within 1e-3, not claimed.


class LossCalls:
    def __init__(self, torch, training, reader):
        self._torch = torch
        self._training = training
        self._reader = reader
        self._failures = 0
        self._hears_target = None  # Told the target of the next call, and no other.

    def look_at_next(self, hears_target):
        """Looks at the next call of whatever function gives the loss, and tells `hears_target` what it compares the outputs with."""
        self._hears_target = hears_target
        for bell in self._training.bells["loss_calls"]:
            bell.due_at = bell.count + 1
        self._training.pulse.loss_due_at = self._training.pulse.backwards + 1  # Of a loss written by hand.

    def listener(self, name):
        """A listener for one function: counts every call, looks at few."""

        @quiet
        def due(input, target, *rest):
            bell.due_at = next((count for count in _SAMPLED if count > bell.count), 0)
            self.look(name, bell.count, input, target, rest)

        bell = Bell(self._training.pulse, LOSS, "loss", due)
        bell.due_at = _SAMPLED[0]
        self._training.bells["loss_calls"].append(bell)
        return bell

    @quiet
    def failed(self, error, *parameters):
        """An exception leaves a loss function. One that is caught every time would be told for ever: ever fewer are."""
        self._failures += 1
        if self._failures in _SAMPLED:
            training = self._training
            training.channel.observe("call-failed", training.step, call="loss", type=type(error).__name__, message=str(error)[:400])

    @quiet
    def look(self, name, count, input, target, rest=(), by_hand=None):
        torch = self._torch
        if not isinstance(input, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        start = thread_time()
        if count == 1:
            self.tell_if_drawn(target)
        hears_target, self._hears_target = self._hears_target, None
        if hears_target is not None:
            hears_target(target)
        facts = {
            "function": name,
            "call": count,
            "input_shape": shape_text(input),
            "target_shape": shape_text(target),
            "input_dtype": dtype_text(input),
            "target_dtype": dtype_text(target),
            "input_requires_grad": input.requires_grad,
            "grad_enabled": torch.is_grad_enabled(),
            "by_hand": by_hand,
            "summed": True if any(isinstance(value, str) and value == "sum" for value in rest) else None,
        }
        facts.update(self._weights(name, rest))
        step = self._training.step
        self._reader.fetch([input, target], quiet(lambda here: self._tell(name, step, facts, here, rest)))
        self._training.governor.spend("loss-call", 1, thread_time() - start)

    def _tell(self, name, step, facts, here, rest):
        input, target = here
        with self._torch.no_grad():
            if self._small(input):
                facts.update(self._ranges("input", input))
                facts.update(self._class_sums(name, input))
            if self._small(target):
                facts.update(self._ranges("target", target))
                if name in _CLASS_TARGETS and not target.dtype.is_floating_point:
                    facts.update(self._class_targets(name, input, target, rest))
        self._training.channel.observe("loss-call", step, **facts)

    def tell_if_drawn(self, targets):
        found = drawn(targets)
        if found is not None:
            self._training.channel.observe("targets-drawn", self._training.step, name=found[0], call=found[1], line=found[2])

    def _weights(self, name, rest):
        """What makes some samples or classes count more than others, and so the level of guessing another one."""
        tensors = [value for value in rest if isinstance(value, self._torch.Tensor)]
        if not tensors:
            return {}
        facts = {"weighted": True}
        values = tensors[0].detach().reshape(-1)
        if len(tensors) == 1 and values.is_cpu and values.numel() <= _WEIGHTS_MAX:
            if name in _CLASS_TARGETS:
                facts["class_weights"] = ",".join(f"{float(value):.6g}" for value in values)
            elif rest[-1] is tensors[0] and values.numel() == 1:
                facts["pos_weight"] = float(values[0])
        return facts

    def _small(self, tensor):
        return self._reader.readable(tensor) and 0 < tensor.numel() <= _ELEMENTS_MAX

    def _ranges(self, what, tensor):
        stats = self._reader.stats([tensor.detach().contiguous()])[0]
        if stats is None:
            return {}
        mean, std = moments(stats)
        return {
            f"{what}_min": stats[4],
            f"{what}_max": stats[5],
            f"{what}_mean": mean,
            f"{what}_std": std,
            f"{what}_nonfinite": nonfinite(stats),
        }

    def _class_sums(self, name, input):
        """Whether the inputs are probabilities or log-probabilities already, along the class dimension."""
        if input.dim() < 2 or not input.dtype.is_floating_point:
            return {}
        dimension = 1
        values = input.detach().to(self._torch.float64)
        facts = {"classes": input.shape[dimension]}
        if bool((values >= 0).all()):
            facts["sums_to_one"] = bool(((values.sum(dim=dimension) - 1).abs() < _SUM_MARGIN).all())
        elif bool((values <= 0).all()):
            facts["exp_sums_to_one"] = bool(((values.exp().sum(dim=dimension) - 1).abs() < _SUM_MARGIN).all())
        facts["constant_output"] = bool((values == values.reshape(-1)[0]).all())
        if values.shape[0] > 1:
            facts["rows_std_mean"] = float(values.std(dim=0).mean())
        return facts

    def _class_targets(self, name, input, target, rest):
        ignore = next((value for value in rest if type(value) is int), -100)
        ignored = target == ignore
        kept = target[~ignored]
        facts = {"ignore_index": ignore, "ignored": float(ignored.double().mean())}
        if kept.numel():
            facts["label_min"] = int(kept.min())
            facts["label_max"] = int(kept.max())
            labels, counts = kept.unique(return_counts=True)
            most = int(counts.argmax())
            facts["label_distinct"] = int(labels.numel())
            facts["label_most"], facts["label_most_share"] = int(labels[most]), float(counts[most]) / kept.numel()
        return facts
