"""Questions about the pair that a loss function is given."""

_MARGIN = 1e-4
_ELEMENTWISE = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits".split())


def is_probability(torch, function, input):
    """Whether the loss function makes probabilities of what are probabilities already, or wants them and gets none."""
    values = input.detach()
    if function == "cross_entropy" and values.dim() >= 2 and values.shape[1] > 1:
        if bool((values >= 0).all()) and bool(((values.sum(dim=1) - 1).abs() < _MARGIN).all()):
            return True
        return False
    if function == "binary_cross_entropy_with_logits":
        return bool(((values >= 0) & (values <= 1)).all()) and "Sigmoid" in type(input.grad_fn).__name__
    if function == "nll_loss" and values.dim() >= 2:
        return not bool(((values.exp().sum(dim=1) - 1).abs() < 1e-2).all())
    return False


def reshapable(function, input, target):
    """Whether the shapes differ although the counts agree: the subtraction makes a table of all pairs."""
    return function in _ELEMENTWISE and input.shape != target.shape and input.numel() == target.numel()
