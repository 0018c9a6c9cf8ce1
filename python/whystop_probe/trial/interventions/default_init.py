"""default-init: every layer begins as torch would begin it. Tests bad-init-scale, symmetric-init, and what follows from them."""

from whystop_probe.trial.intervention import Intervention


class DefaultInit(Intervention):
    tests = ("bad-init-scale", "symmetric-init", "dead-relu", "saturation")

    def on_model(self, module):
        state = self.torch.get_rng_state()
        self.torch.random.default_generator.manual_seed(0)
        for part in module.modules():
            reset = getattr(part, "reset_parameters", None)
            if callable(reset):
                reset()
                self.applied += 1
        self.torch.set_rng_state(state)
