"""Puts the observers in place once torch has been imported."""

import os
import sys
from time import perf_counter

from whystop_probe.core import kinds, session
from whystop_probe.core import tap as tap_module
from whystop_probe.core.guard import quiet
from whystop_probe.loop.watch import LoopWatch
from whystop_probe.core.pulse import ZERO_GRAD, Bell
from whystop_probe.core.tap import tap
from whystop_probe.torch import ranks
from whystop_probe.torch.tensors import Reader
from whystop_probe.torch.activations import EPISODES, Activations
from whystop_probe.torch.amp import Gradients
from whystop_probe.torch.backward import Backwards
from whystop_probe.torch.by_hand import ByHand
from whystop_probe.torch.data import Loaders
from whystop_probe.torch.environment import Environment
from whystop_probe.torch.kinds import TorchKinds
from whystop_probe.torch.held_out import HeldOutLoss
from whystop_probe.torch.late import LateValues
from whystop_probe.torch.loading import Loading
from whystop_probe.torch.losses import NAMES, LossCalls
from whystop_probe.torch.memory import DeviceMemory
from whystop_probe.torch.model import Modules, Names
from whystop_probe.torch.nonfinite import NonFinite
from whystop_probe.torch.optimizer import Optimizers
from whystop_probe.torch.own_losses import OwnLosses
from whystop_probe.torch.parameters import Parameters
from whystop_probe.torch.phases import TorchPhases
from whystop_probe.torch.retained import RetainedGraphs
from whystop_probe.torch.schedules import Schedules
from whystop_probe.torch.steps import LearningRates, Steps

_TELL_EVERY_S = 5.0
_COMPILING = "torch.compiler.is_compiling()"
_SENTINEL_EVERY = 4  # One small gradient is looked at so often; a NaN in it is in the loss a step later anyway.
_NEVER = 1 << 60
_HOOK_KEY = 1 << 60  # No handle of torch's has this number.
current = None  # The Training of this process, for the frameworks' observers.


def install(torch):
    """Called once, right after torch's own import."""
    global current
    current = training = session.begin()
    versions = {"torch": str(torch.__version__), "threads": torch.get_num_threads(), "cuda": torch.version.cuda or ""}
    session.describe_process(training.channel, versions)
    kinds.register(TorchKinds())
    observers = _Observers(torch, training)
    observers.attach()
    if os.environ.get("WHYSTOP_TRIAL"):  # One thing is changed on purpose: `whystop try`.
        from whystop_probe.trial.begin import begin

        begin(torch, training, observers.tell_end)


def switch(on):
    """Takes out everything that runs at a step, or puts it back: bench/overhead.py compares the two in one process."""
    optimizer, pulse = sys.modules["torch.optim.optimizer"], current.pulse
    for hooks, hook in ((optimizer._global_optimizer_pre_hooks, pulse.before_step), (optimizer._global_optimizer_post_hooks, pulse.after_step)):
        key = next((key for key, other in hooks.items() if other == hook), None)
        if on and key is None:
            hooks[_HOOK_KEY] = hook
        elif not on and key is not None:
            del hooks[key]
    tap_module.switch(on)
    current.governor.pause(not on)
    pulse.last_end_s = perf_counter()  # Time without the probe earns nothing.


def _hide_code(code):
    module = sys.modules.get("torch._dynamo.eval_frame")
    if module is not None:
        module.skip_code(code)


class _Observers:
    def __init__(self, torch, training):
        self._torch = torch
        self._training = training
        self._late = late = LateValues(torch, training)
        reader = Reader(torch, late.device)
        names = Names()
        self._modules = Modules(training)
        self._loading = Loading(training)
        self._optimizers = Optimizers(training, self._modules, names, torch.nn.Parameter)
        self._parameters = Parameters(torch, training, reader, names)
        self._steps = Steps(training, late, LearningRates(training, reader))
        self._backwards = Backwards(torch, training, late)
        self._by_hand = ByHand(torch, training, self._optimizers, self._parameters)
        self._gradients = Gradients(training, reader, late, self._steps)
        self._loaders = Loaders(torch, training, reader)
        self._loss_calls = LossCalls(torch, training, reader)
        self._held_out = HeldOutLoss(torch, training, self._optimizers, self._loaders)
        self._own_losses = OwnLosses(torch, training, self._loss_calls)
        self._activations = Activations(torch, training, reader, self._optimizers, self._loss_calls)
        self._nonfinite = NonFinite(training, reader, self._optimizers, self._parameters)
        self._schedules = Schedules(training)
        self._phases = TorchPhases(training)
        self._loop = LoopWatch(training, RetainedGraphs(training).look)
        self._memory = DeviceMemory(torch, training)
        self._environment = Environment(training)
        self._last_told = perf_counter()
        self._mode = None
        self._program = getattr(sys.modules.get("__main__"), "__file__", None)  # Gone when the program has ended.
        self._sentinel_at = 0
        self._next_episode = EPISODES[0]
        self._rest_attached = False

    def attach(self):
        torch, steps, pulse = self._torch, self._steps, self._training.pulse
        nonfinite = self._nonfinite
        self._backwards.on_nonfinite = nonfinite.on_loss
        self._own_losses.on_first = [self._backwards.on_first, self._optimizers.on_first_backward]
        self._gradients.on_clip_norm = nonfinite.on_clip_norm
        nonfinite.on_alarm.append(self._activations.on_alarm)
        pulse.unstepped = self._by_hand.on_backward
        steps.on_other += [self._optimizers.on_optimizer, self._parameters.on_optimizer]
        pulse.sampling = self._parameters.before_step
        steps.after = self._after_step
        self._optimizers.on_first.append(self._attach_rest)
        self._by_hand.on_first = self._attach_rest
        pulse.loop_event = self._loop.on_event
        optimizer = sys.modules["torch.optim.optimizer"]  # torch.optim hides the attribute.
        optimizer.register_optimizer_step_pre_hook(pulse.before_step)
        optimizer.register_optimizer_step_post_hook(pulse.after_step)
        module = torch.nn.modules.module
        module.register_module_parameter_registration_hook(self._modules.on_parameter)
        module.register_module_module_registration_hook(self._modules.on_module)
        tap(torch.optim.Optimizer.__init__, after=self._optimizers.on_created)
        tap(torch.optim.Optimizer.load_state_dict, before=self._optimizers.on_loaded)
        tap(torch.nn.Module.load_state_dict, after=self._loading.on_loaded)
        tap(torch.nn.Module.__setstate__, after=self._modules.on_copied)
        tap(torch.autograd.backward, before=pulse.before_backward, failed=self._backwards.failed)
        tap(torch.autograd.grad, before=self._by_hand.on_grad, unless=_COMPILING)
        tap(torch.compile, before=self._on_compile)
        tap(torch.autograd.graph.saved_tensors_hooks.__init__, before=self._on_saved_hooks)
        ranks.attach(torch, self._training)
        self._training.tell_end = self.tell_end

    @quiet
    def _attach_rest(self):
        """What only a training run needs, at its first optimizer or backward pass: a millisecond or two a function."""
        if self._rest_attached:
            return
        self._rest_attached = True
        torch, loaders, gradients, pulse = self._torch, self._loaders, self._gradients, self._training.pulse
        data = torch.utils.data.dataloader
        tap(data.DataLoader.__iter__, after=loaders.after_iter)
        tap(data._BaseDataLoaderIter.__next__, before=pulse.before_next, after=pulse.after_next, failed=loaders.failed_next)
        scaler = torch.amp.grad_scaler.GradScaler
        tap(scaler.scale, before=self._backwards.before_scale)
        tap(scaler.step, before=gradients.before_scaler_step, after=gradients.after_scaler_step)
        tap(scaler.update, after=gradients.after_scaler_update)
        schedule = torch.optim.lr_scheduler
        tap(schedule.LRScheduler.__init__, after=self._schedules.on_created)
        tap(schedule.ReduceLROnPlateau.__init__, after=self._schedules.on_created)
        tap(schedule.LRScheduler.step, before=self._bell("scheduler_steps"))
        tap(schedule.ReduceLROnPlateau.step, before=self._bell("scheduler_steps"))
        phases = self._phases
        tap(torch.nn.Module.eval, before=phases.on_eval, unless=_COMPILING)
        tap(torch.save, before=phases.before_save, after=phases.after_save, failed=phases.after_save)
        clip = torch.nn.utils.clip_grad
        tap(clip.clip_grad_norm_, after=gradients.after_clip_norm, unless=_COMPILING)
        tap(clip.clip_grad_value_, before=gradients.before_clip_value, unless=_COMPILING)
        tap(torch.optim.Optimizer.zero_grad, before=self._bell("zero_grads", ZERO_GRAD))
        tap(torch.nn.Module.zero_grad, before=self._bell("zero_grads", ZERO_GRAD))
        for name in NAMES:
            function, calls = getattr(torch.nn.functional, name), self._loss_calls
            tap(function, before=calls.listener(name), after=self._held_out.listener(), failed=calls.failed, unless=_COMPILING)

    def _bell(self, counter, kind=0):
        bell = Bell(self._training.pulse, kind, "zero_grad", None)
        self._training.bells[counter].append(bell)
        return bell

    @quiet
    def _on_compile(self, *arguments):
        if not self._training.compiled:
            self._training.compiled = True
            self._training.hide_code = _hide_code
            self._training.channel.observe("compiled", self._training.step)

    @quiet
    def _on_saved_hooks(self, *arguments):
        self._training.saved_hooks = True

    def _after_step(self, optimizer, now):
        """Asks each observer whether it has anything to do. Returns whether one wants to hear of the next step too."""
        training = self._training
        step = training.step
        if self._optimizers.unchecked or self._optimizers.modules_built != self._modules.count:
            self._optimizers.after_step(optimizer)
        if step - self._sentinel_at >= _SENTINEL_EVERY or step <= 1:
            self._sentinel_at = step
            self._nonfinite.after_step(optimizer)
        self._parameters.descent.after_closure()
        if training.pulse.tokens_s > training.pulse.sample_cost_s or self._parameters.kept is not None:
            self._parameters.after_step(optimizer)
        self._parameters.descent.after_step()
        if self._activations.handle is not None or step >= self._next_episode:
            self._next_episode = next((episode for episode in EPISODES if episode > step), _NEVER)
            self._activations.after_step()
            self._next_episode = min(self._next_episode, self._activations.next_rows_at)
        root = self._optimizers.root()
        if root is not None and root.training is not self._mode:
            self._mode = root.training
            training.channel.observe("mode", training.step, training=root.training)
        self._memory.after_step(now)
        if now - self._last_told >= _TELL_EVERY_S:
            self._last_told = now
            self._tell_totals()
        return self._optimizers.unchecked or self._activations.handle is not None or self._parameters.descent.waits

    @quiet
    def tell_end(self):
        self._late.send()
        self._late.take()
        self._held_out.tell()
        self._loop.at_exit()
        self._memory.tell()
        self._parameters.descent.tell()
        if self._training.pulse.steps == 0:
            self._tell_no_training()
        self._tell_totals()

    @quiet
    def _tell_no_training(self):
        training = self._training
        if training.pulse.backwards == 0 and self._by_hand.gradients == 0 and self._modules.count:
            training.channel.observe("no-training", modules=self._modules.count, optimizers=self._optimizers.count)
        if self._optimizers.count:
            from whystop_probe.loop.unturned import tell_unturned

            tell_unturned(training.channel, self._program)

    @quiet
    def _tell_totals(self):
        self._loaders.tell_passes()
        session.tell_totals(self._training)
        self._environment.tell()
