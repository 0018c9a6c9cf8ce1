"""undo-softmax: the loss function gets what it asks for: scores where it makes probabilities itself, log-probabilities where it
does not. Tests double-softmax and wrong-loss-activation."""

from whystop_probe.trial.intervention import Intervention
from whystop_probe.trial.shapes import is_probability

_TINY = 1e-7


class UndoSoftmax(Intervention):
    tests = ("double-softmax", "wrong-loss-activation")

    def before_loss(self, function, input, target):
        if not is_probability(self.torch, function, input):
            return input, target
        self.applied += 1
        values = input.detach()
        if function == "cross_entropy":
            return input.clamp_min(_TINY).log(), target
        if function == "binary_cross_entropy_with_logits":
            return self.torch.logit(input.clamp(_TINY, 1 - _TINY)), target
        sums_to_one = bool((values >= 0).all()) and bool(((values.sum(dim=1) - 1).abs() < 1e-3).all())
        return (input.clamp_min(_TINY).log() if sums_to_one else self.torch.nn.functional.log_softmax(input, dim=1)), target
