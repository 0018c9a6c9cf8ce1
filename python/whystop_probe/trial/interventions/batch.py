"""batch=128: batches of this size, and what memory they take; 0 leaves the size. For `whystop fit`.

Loaders whose batches are of the size of the first one's give the new size. In a program without a loader the model's inputs and
the targets are cut, or repeated, where they are used: memory does not ask whether samples are different ones."""

from whystop_probe.core.guard import quiet
from whystop_probe.trial import memory
from whystop_probe.trial.intervention import Intervention


class Batch(Intervention):
    memory_only = True

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._wanted = int(value or 0)
        self._own = None  # As the program has it.
        self._by_loader = False
        self._size = None  # Of the call that is under way.
        self._samples = None
        self._models, self._optimizers = [], {}
        self._start = None
        self._told = False
        self._steps = 0
        self.facts = None

    def on_loader(self, settings):
        size = settings.get("batch_size", 1)
        if not size or settings.get("batch_sampler") is not None:
            return
        if self._own is None:
            self._own, self._by_loader = size, True
            self._samples = len(settings["dataset"]) if hasattr(settings.get("dataset"), "__len__") else None
        if self._by_loader and size == self._own and self._wanted:
            settings["batch_size"] = self._wanted

    def on_optimizer(self, optimizer):
        self._optimizers[id(optimizer)] = optimizer

    def on_model(self, module):
        self._models.append(module)
        if self._start is None:
            self._start = memory.own_memory()[0]

    def before_forward(self, module, args, kwargs):
        first = next((value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor) and value.dim()), None)
        if first is None:
            return args, kwargs
        self._size = first.shape[0]
        self._own = self._own or self._size
        if not self._told:  # It may not come to its first step.
            self._told = True
            self._tell()
        return tuple(self._sized(value) for value in args), {name: self._sized(value) for name, value in kwargs.items()}

    def before_loss(self, function, input, target):
        return input, self._sized(target)

    def _sized(self, value):
        fits = isinstance(value, self.torch.Tensor) and value.dim() and value.shape[0] == self._size and not value.requires_grad
        if self._by_loader or not self._wanted or not fits:
            return value
        return value[self.torch.arange(self._wanted, device=value.device) % self._size]

    def after_step(self, optimizer):
        self._steps += 1
        self.applied = 1
        self.facts = f"{self._own} -> {self._wanted or self._own}"
        self._tell()

    @quiet
    def _tell(self):
        model, gradients = memory.model_bytes(self._models)
        device_peak, device_total = memory.device_memory(self.torch)
        self.channel.observe(
            "trial-survey", self._steps, own_batch=self._own, batch=self._wanted or self._own, by_loader=self._by_loader, samples=self._samples,
            steps=self._steps, start_bytes=self._start, peak_bytes=memory.own_memory()[1], model_bytes=model, gradient_bytes=gradients,
            optimizer_bytes=memory.optimizer_bytes(self.torch, self._optimizers.values()), device_peak_bytes=device_peak,
            device_total_bytes=device_total)
