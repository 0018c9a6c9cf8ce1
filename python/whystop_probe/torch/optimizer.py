"""Optimizers: what they were told, and whether they hold what the model trains."""

import weakref

from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text
from whystop_probe.core.weak import WeakTable
from whystop_probe.torch.graph import all_leaves
from whystop_probe.torch.model import describe

_STEPS_OF_ITS_OWN = 16  # So many in a row are a training of its own; fewer are those of two that take turns.
_CHECK_STEPS = (1, 3)  # Gradients are missing by design in a first step now and then; twice is a fact.
_MEANT_REQUIRES_GRAD = ("require_grad", "required_grad", "requires_gradient", "require_gradient", "requires_grads")


class Optimizers:
    """Knows every optimizer alive, and compares them with the model once steps have been made."""

    def __init__(self, training, modules, names, parameter_type):
        self._parameter_type = parameter_type
        self._training = training
        self._modules = modules
        self._names = names
        self._known = WeakTable()
        self._described = WeakTable()
        self._steps = WeakTable()
        self._made_at = WeakTable()  # Steps that others had made by then.
        self._number = WeakTable()  # optimizer -> the training that it belongs to.
        self._switched_at = 0  # Steps made when another optimizer than the one before stepped.
        self._seen = WeakTable()  # optimizer -> what its gradients were at the check before.
        self.unchecked = True  # The optimizer that steps is to be compared with the model still.
        self.modules_built = 0  # As of the last look: who builds another model may have left the optimizer with the old one.
        self._root = None
        self.count = 0  # That were ever made.
        self.on_first = []  # Called once, when the first optimizer is made.

    @quiet
    def on_created(self, result, optimizer, *rest):
        self.count += 1
        first = not self._known
        self._known.add(optimizer)
        self._made_at[optimizer] = self._training.pulse.steps
        if first:
            for listener in self.on_first:
                listener()
            self.on_first = []

    @quiet
    def on_loaded(self, optimizer, state_dict, *rest):
        """The state of a run that went before: how many steps it had made, where the optimizer counts them."""
        state = state_dict.get("state") if isinstance(state_dict, dict) else None
        steps = [_number(item.get("step")) for item in list((state or {}).values())[:4] if isinstance(item, dict)]
        steps = [number for number in steps if number is not None]
        self._training.channel.observe("checkpoint-loaded", self._training.step, optimizer=type(optimizer).__name__, steps=max(steps) if steps else None)

    def root(self):
        return self._root() if self._root is not None else None

    def parameters(self):
        return [parameter for optimizer in list(self._known) for group in optimizer.param_groups for parameter in group["params"]]

    @quiet
    def on_optimizer(self, optimizer):
        """Called ahead of an optimizer's step where another one stepped before."""
        training = self._training
        in_a_row, self._switched_at = training.pulse.steps - self._switched_at, training.pulse.steps
        if optimizer not in self._described:
            self._known.add(optimizer)
            if self._trains_another_model(optimizer):
                training.next_one()
            self._describe(optimizer)
            self._described.add(optimizer)
            self._number[optimizer] = training.number
        elif self._number.get(optimizer, training.number) != training.number and in_a_row >= _STEPS_OF_ITS_OWN:
            training.turn_to(self._number[optimizer])
            training.pulse.set_first(optimizer)
        self.unchecked = self._steps.get(optimizer, 0) < _CHECK_STEPS[-1]

    @quiet
    def on_first_backward(self, loss):
        """What the first loss hangs on and no optimizer holds: nothing of it by mistake. A copy of the model builds no module, and layers
        in a plain list belong to none, so that nobody has names for them; but they are in the graph. Where the optimizer holds
        some, an input that wants a gradient too is no mistake."""
        held = {id(parameter) for parameter in self.parameters()}
        reached = all_leaves(loss)
        left = [(index, leaf) for index, leaf in enumerate(reached) if id(leaf) not in held]
        if len(left) < len(reached):
            left = [(index, leaf) for index, leaf in left if isinstance(leaf, self._parameter_type)]
        if held and left:
            names = [self._names.of(leaf, f"tensor{index}") for index, leaf in left]
            self._training.channel.observe("parameter-not-in-optimizer", self._training.step, steps=0, count=len(left), names=names_text(names))

    @quiet
    def after_step(self, optimizer):
        if self.modules_built != self._modules.count:
            self.modules_built = self._modules.count
            self._steps.clear()
        steps = self._steps.get(optimizer, 0) + 1
        self._steps[optimizer] = steps
        self.unchecked = steps < _CHECK_STEPS[-1]
        if steps in _CHECK_STEPS:
            self._compare(optimizer, steps)

    def _trains_another_model(self, optimizer):
        """Made when another one had made steps already, and for a model of its own. Those of a GAN are all made before the first
        step; one that is made anew for the same model goes on with it."""
        if self._made_at.get(optimizer, 0) == 0:
            return False
        root = self._modules.root_of([parameter for group in optimizer.param_groups for parameter in group["params"]])
        return root is not None and root is not self.root()

    def _describe(self, optimizer):
        groups = optimizer.param_groups
        own = [parameter for group in groups for parameter in group["params"]]
        root = self._modules.root_of(own)
        channel, step = self._training.channel, self._training.step
        if root is not None and root is not self.root():
            self._root = weakref.ref(root)
            self._names.learn(root)
            describe(channel, root, step)
        first = groups[0] if groups else {}
        betas = first.get("betas") or (None, None)
        alive = self._modules.all_parameters()
        channel.observe(
            "optimizer",
            step,
            name=type(optimizer).__name__,
            groups=len(groups),
            tensors=len(own),
            parameters=sum(parameter.numel() for parameter in own),
            tensors_of_no_module=sum(id(parameter) not in alive for parameter in own) if alive else None,
            misspelt=_misspelt(root.parameters() if root is not None else own) or _set_on_module(root),
            lr=_number(first.get("lr")),
            initial_lr=_number(first.get("initial_lr")),
            lrs=",".join(str(_number(group.get("lr"))) for group in groups[:16]),
            momentum=_number(first.get("momentum")),
            weight_decay=_number(first.get("weight_decay")),
            beta1=_number(betas[0]),
            beta2=_number(betas[1]),
            eps=_number(first.get("eps")),
            nesterov=_number(first.get("nesterov")),
        )

    def _compare(self, optimizer, steps):
        channel, step, pulse = self._training.channel, self._training.step, self._training.pulse
        own = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        without = [
            self._names.of(parameter, f"parameter{index}")
            for index, parameter in enumerate(own)
            if parameter.requires_grad and parameter.grad is None
        ]
        channel.observe(
            "gradients-present",
            step,
            steps=steps,
            tensors=len(own),
            without=len(without),
            frozen=sum(not parameter.requires_grad for parameter in own),
            stale=self._count_stale(optimizer, own),
            zeroed_before_step=0 < pulse.backwards == pulse.zeroed_at,
        )
        if without:
            channel.observe("parameter-without-gradient", step, steps=steps, count=len(without), of=len(own), names=names_text(without))
        root = self.root()
        if root is None:
            return
        held = {id(parameter) for parameter in self.parameters()}
        left = [name for name, parameter in root.named_parameters() if parameter.requires_grad and id(parameter) not in held]
        if left:
            channel.observe("parameter-not-in-optimizer", step, steps=steps, count=len(left), names=names_text(left))


    def _count_stale(self, optimizer, own):
        """Gradients that no backward pass has touched since the check before: neither another tensor nor written to."""
        before = self._seen.get(optimizer, {})
        now = {id(item): (weakref.ref(item.grad), item.grad._version) for item in own if item.grad is not None}
        self._seen[optimizer] = now
        return sum(key in before and before[key][0]() is now[key][0]() and before[key][1] == now[key][1] for key in now)


def _misspelt(parameters):
    """The name under which a parameter that stays frozen was told to require its gradient, or None."""
    for parameter in parameters:
        for name, value in getattr(parameter, "__dict__", {}).items():
            if value is True and name in _MEANT_REQUIRES_GRAD and not parameter.requires_grad:
                return name
    return None


def _set_on_module(root):
    """`body.requires_grad`, where it was set to True on a module whose parameters stay frozen: there it means nothing."""
    for name, module in root.named_modules() if root is not None else ():
        if module.__dict__.get("requires_grad") is True and not any(parameter.requires_grad for parameter in module.parameters()):
            return f"{name or type(root).__name__}.requires_grad"
    return None


def _number(value):
    if isinstance(value, (bool, int, float)):
        return float(value)
    if value is not None and getattr(value, "is_cpu", False) and value.numel() == 1:
        return float(value.item())
    return None
