"""What always giving the same answer would cost: the loss of the best constant, by the program's own loss function."""

_COUNTED_MAX = 4096  # Classes; more are not counted.
_TINY = 1e-6


class Guess:
    """Learns the distribution of the targets as they pass, and asks the loss function about a constant that knows it."""

    def __init__(self, torch):
        self._torch = torch
        self._counts = {}
        self._means = {}

    def cost(self, function, call, input, target):
        """The loss of the constant answer on these targets, or None where it is not known."""
        torch = self._torch
        with torch.no_grad():
            constant = self._constant(function, input, target)
            if constant is None:
                return None
            result = call(constant.expand_as(input).to(input.dtype), target)
        return float(result) if result.numel() == 1 else None

    def _constant(self, function, input, target):
        if function in ("cross_entropy", "nll_loss"):
            return self._log_odds(function, input, target)
        if target.dim() == 0 or target.shape != input.shape:
            # Targets of another shape are spread against the outputs: the mean of them all is the best constant there.
            return self._mean(function, target.reshape(-1, 1)).mean() if target.numel() else None
        mean = self._mean(function, target)
        if function == "binary_cross_entropy":
            return mean.clamp(_TINY, 1 - _TINY)
        if function == "binary_cross_entropy_with_logits":
            return self._torch.logit(mean.clamp(_TINY, 1 - _TINY))
        return mean if function in ("mse_loss", "rmse_loss", "l1_loss", "smooth_l1_loss", "huber_loss") else None

    def _log_odds(self, function, input, target):
        torch = self._torch
        classes = input.shape[1] if input.dim() > 1 else input.shape[0]
        if classes > _COUNTED_MAX:
            return None
        counts = self._counts.setdefault((function, classes), torch.full((classes,), _TINY, dtype=torch.float64))
        if target.dtype.is_floating_point:
            counts += target.detach().double().reshape(-1, classes).sum(dim=0).cpu() if target.dim() == 2 else 0
        else:
            kept = target.detach().reshape(-1).cpu()
            counts += torch.bincount(kept[(kept >= 0) & (kept < classes)], minlength=classes)
        shape = [1, classes] + [1] * (input.dim() - 2) if input.dim() > 1 else [classes]
        return (counts / counts.sum()).log().clamp_min(-20).reshape(shape).to(input.device)

    def _mean(self, function, target):
        values = target.detach().double()
        total, count = self._means.get((function, values.shape[1:]), (0.0, 0))
        finite = self._torch.nan_to_num(values, 0.0, 0.0, 0.0)
        total, count = total + finite.sum(dim=0, keepdim=True), count + values.shape[0]
        self._means[(function, values.shape[1:])] = (total, count)
        return total / count
