"""hold-out: half of the samples, chosen by their own values, teach nothing; the loss on them says whether what is learned carries over.

A sample is in the same half in every pass, so learning by heart does not show there. Speaks for and against labels-random."""

from whystop_probe.trial.guess import Guess
from whystop_probe.trial.intervention import Intervention


def chosen(torch, inputs):
    """True for the samples that are held out: by a hash of their values."""
    rows = torch.nan_to_num(inputs.detach().double(), 0.0, 0.0, 0.0).reshape(inputs.shape[0], -1)
    weights = torch.cos(torch.arange(1, rows.shape[1] + 1, dtype=torch.float64, device=rows.device) * 1.7) + 1.5
    # In 1/64 of a unit: the sum of the same row may differ in its last bits from batch to batch.
    mixed = (rows * weights).sum(dim=1)
    scaled = mixed / 2.0 ** (mixed.abs().clamp_min(1e-300).log2().floor() - 20)
    return (scaled / 64).floor().remainder(2) == 1


def _weigher(torch):
    class Weigh(torch.autograd.Function):
        @staticmethod
        def forward(context, values, weights):
            context.save_for_backward(weights)
            return values.view_as(values)

        @staticmethod
        def backward(context, gradient):
            return gradient * context.saved_tensors[0], None

    return Weigh


class HoldOut(Intervention):
    tests = ("labels-random", "labels-misaligned")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._mask = None
        self._guess = Guess(torch)
        self.held = None  # (loss, loss of guessing) on the held-out samples of the last loss call.
        self._by_hand = False  # The loss is: the outputs are held back from it.
        self._weigh = _weigher(torch)

    def before_forward(self, module, args, kwargs):
        values = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor) and value.dim() >= 2]
        self._mask = chosen(self.torch, values[0]) if values else None
        return args, kwargs

    def after_forward(self, module, output):
        if self._by_hand and isinstance(output, self.torch.Tensor) and self._splits(output, output):
            return self._held_back(output)
        return output

    def before_loss(self, function, input, target):
        return (self._held_back(input) if self._splits(input, target) else input), target

    def _held_back(self, values):
        """The same values, of which the gradients of the samples held out are 0 and the others' as large together as all were."""
        self.applied += 1
        weights = (~self._mask).to(values.dtype) * (self._mask.numel() / (~self._mask).sum().clamp_min(1))
        return self._weigh.apply(values, weights.reshape([-1] + [1] * (values.dim() - 1)))

    def on_own_loss(self, function, call, result, input, target):
        self._by_hand = True
        self.after_loss(function, call, result, input, target)

    def _splits(self, input, target):
        mask = self._mask
        return mask is not None and target.dim() and input.shape[0] == target.shape[0] == mask.shape[0] and bool(mask.any())

    def after_loss(self, function, call, result, input, target):
        self.held = None
        if not self._splits(input, target):
            return
        with self.torch.no_grad():
            held_input, held_target = input.detach()[self._mask], target[self._mask]
            loss = call(held_input, held_target)
            cost = self._guess.cost(function, call, held_input, held_target)
        if loss.numel() == 1 and cost:
            self.held = (float(loss), cost)
