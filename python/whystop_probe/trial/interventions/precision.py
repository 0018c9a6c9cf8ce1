"""float32: 32 bits wherever the program asks for 16. Tests fp16-overflow and fp16-underflow."""

import functools

from whystop_probe.trial.intervention import Intervention


class Float32(Intervention):
    tests = ("fp16-overflow", "fp16-underflow", "loss-scale-floor")

    def __init__(self, value, torch):
        super().__init__(value, torch)
        self._short = (torch.float16, torch.bfloat16)
        for owner in (torch.nn.Module, torch.Tensor):
            for name in ("half", "bfloat16"):
                setattr(owner, name, self._plain(getattr(owner, name)))
            owner.to = self._to(owner.to)
        self._switch_off(torch.amp.autocast_mode.autocast)

    def _plain(self, original):
        def convert(owner, *args, **kwargs):
            self.applied += 1
            return owner.float()

        return convert

    def _to(self, original):
        @functools.wraps(original)
        def to(owner, *args, **kwargs):
            short = [value for value in (*args, *kwargs.values()) if value in self._short] if self._asks(args, kwargs) else []
            self.applied += len(short)
            args = tuple(self.torch.float32 if self._is_short(value) else value for value in args)
            kwargs = {name: self.torch.float32 if self._is_short(value) else value for name, value in kwargs.items()}
            return original(owner, *args, **kwargs)

        return to

    def _is_short(self, value):
        return isinstance(value, self.torch.dtype) and value in self._short

    def _asks(self, args, kwargs):
        return all(not isinstance(value, self.torch.Tensor) for value in (*args, *kwargs.values()))

    def _switch_off(self, autocast):
        original = autocast.__init__

        @functools.wraps(original)
        def init(context, device_type, dtype=None, enabled=True, cache_enabled=None):
            self.applied += bool(enabled)
            original(context, device_type, dtype, False, cache_enabled)

        autocast.__init__ = init
