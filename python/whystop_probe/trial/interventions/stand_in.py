"""stand-in=0.003: a plain network with two hidden layers and an optimizer of its own answers in place of the model, on the same
batches and by the same loss. Where it learns, data and loss are sound and the fault is in the model or its steps; where
it does not, data or loss are to blame. Half of the samples are held out, as in hold-out. Tests capacity-too-small."""

from whystop_probe.trial.interventions.hold_out import HoldOut
from whystop_probe.trial.scales import column_scales

_WIDTH = 128
_FEATURES_MAX = 1 << 15
_BATCHES = 8
_REGRESSIONS = frozenset("mse_loss rmse_loss l1_loss smooth_l1_loss huber_loss".split())


class StandIn(HoldOut):
    tests = ("capacity-too-small",)

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._network = self._optimizer = self._answer = None
        self._inputs = None
        self._seen, self._targets = [], []
        self._scale = None

    def before_forward(self, module, args, kwargs):
        values = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        fits = len(values) == 1 and values[0].dtype.is_floating_point and values[0].dim() >= 2 and values[0][0].numel() <= _FEATURES_MAX
        self._inputs = values[0].detach() if fits else None
        return super().before_forward(module, args, kwargs)

    def after_forward(self, module, output):
        torch = self.torch
        self._answer = None
        if self._inputs is None or not isinstance(output, torch.Tensor) or output.dim() not in (1, 2) or output.shape[0] != self._inputs.shape[0]:
            return output
        inputs = self._standardised(self._inputs)
        width = output.shape[1] if output.dim() == 2 else 1
        if self._network is None:
            self._build(inputs.shape[1], width)
        answer = self._network(inputs).to(output.dtype)
        self.applied += 1
        self._answer = answer.reshape(output.shape)
        if not self._by_hand:
            return self._answer
        scaled = self._scaled(self._answer) if self._targets else self._answer
        return super().after_forward(module, scaled)

    def on_own_loss(self, function, call, result, input, target):
        super().on_own_loss(function, call, result, input, target)
        if function in _REGRESSIONS and len(self._targets) < _BATCHES:
            self._targets.append(target.detach().reshape(-1)[:4096])

    def _build(self, features, width):
        nn, state = self.torch.nn, self.torch.get_rng_state()
        self.torch.random.default_generator.manual_seed(0)
        layers = [nn.Linear(features, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, width)]
        self._network = nn.Sequential(*layers)
        self.torch.set_rng_state(state)
        parameters = [parameter for layer in layers for parameter in layer.parameters()]
        self._moments = [(self.torch.zeros_like(p), self.torch.zeros_like(p)) for p in parameters]
        self._parameters, self._count = parameters, 0

    def _standardised(self, values):
        torch = self.torch
        if len(self._seen) < _BATCHES:
            self._seen.append(values[:4096])
            same = [seen for seen in self._seen if seen.shape[1:] == values.shape[1:]]
            self._scale = column_scales(torch, torch.cat(same))
        center, spread = self._scale
        scaled = (torch.nan_to_num(values.double(), 0.0, 0.0, 0.0) - center) / torch.where(spread > 0, spread, torch.ones_like(spread))
        return scaled.clamp(-5, 5).float().reshape(values.shape[0], -1)

    def before_loss(self, function, input, target):
        if self._answer is None or input.numel() != self._answer.numel():
            return input, target
        return super().before_loss(function, self._for_loss(function, input, target), target)

    def _for_loss(self, function, input, target):
        """What the model's last layer would have done for this loss."""
        torch, answer = self.torch, self._answer
        if function in _REGRESSIONS:
            answer = self._on_scale(answer, target)
        elif function == "binary_cross_entropy":
            answer = torch.sigmoid(answer)
        elif function == "nll_loss":
            answer = torch.log_softmax(answer, dim=-1)
        return answer.reshape(input.shape)

    def _on_scale(self, answer, target):
        if len(self._targets) < _BATCHES:
            self._targets.append(target.detach().reshape(-1)[:4096])
        return self._scaled(answer)

    def _scaled(self, answer):
        values = self.torch.cat(self._targets).double()
        deviation = float(values.std()) if values.numel() > 1 else 1.0
        return answer * (deviation or 1.0) + float(values.mean())

    def before_step(self, optimizer):
        """Adam, written out: an optimizer of torch's would be taken for one of the program's."""
        if self._network is None:
            return
        torch, rate = self.torch, float(self.value or 0.003)
        self._count += 1
        with torch.no_grad():
            for parameter, (mean, square) in zip(self._parameters, self._moments):
                if parameter.grad is None:
                    continue
                mean.mul_(0.9).add_(parameter.grad, alpha=0.1)
                square.mul_(0.999).addcmul_(parameter.grad, parameter.grad, value=0.001)
                unbiased = square.div(1 - 0.999**self._count).sqrt_().add_(1e-8)
                parameter.addcdiv_(mean, unbiased, value=-rate / (1 - 0.9**self._count))
                parameter.grad = None
