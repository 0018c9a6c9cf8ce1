"""unfreeze: every parameter of the model learns, and the optimizer holds it. Tests frozen-params and optimizer-wrong-params."""

from whystop_probe.trial.intervention import Intervention


class Unfreeze(Intervention):
    tests = ("frozen-params", "optimizer-wrong-params")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._optimizer = None
        self.facts = None

    def on_optimizer(self, optimizer):
        self._optimizer = optimizer

    def on_model(self, module):
        frozen = [p for p in module.parameters() if not p.requires_grad and p.dtype.is_floating_point]
        for parameter in frozen:
            parameter.requires_grad_(True)
        held = {id(p) for group in self._optimizer.param_groups for p in group["params"]}
        missing = [p for p in module.parameters() if id(p) not in held]
        if missing:
            self._optimizer.add_param_group({"params": missing})
        self.applied += len(frozen) + len(missing)
        self.facts = f"{len(frozen)} frozen, {len(missing)} not in the optimizer"
