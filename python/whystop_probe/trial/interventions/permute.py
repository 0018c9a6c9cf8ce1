"""permute-labels: targets are dealt out anew within each batch. A program whose loss is no worse then learned nothing from them."""

from whystop_probe.trial.intervention import Intervention


class PermuteLabels(Intervention):
    tests = ("labels-random", "labels-misaligned")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._generator = torch.Generator().manual_seed(1) if not value else torch.Generator().manual_seed(int(value))

    def before_loss(self, function, input, target):
        if target.dim() == 0 or target.shape[0] < 2 or target.requires_grad:
            return input, target
        self.applied += 1
        order = self.torch.randperm(target.shape[0], generator=self._generator).to(target.device)
        return input, target[order]
