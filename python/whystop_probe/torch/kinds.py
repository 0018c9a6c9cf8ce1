"""Tensors and loaders among the variables of a training loop."""

from whystop_probe.core import kinds


class TorchKinds(kinds.Kinds):
    packages = ("torch",)

    def number(self, value):
        if type(value).__module__.startswith("torch") and getattr(value, "is_cpu", False) and value.numel() == 1:
            return value.item()
        return None

    def length(self, value):
        kind = type(value)
        if kind.__module__.split(".")[0] == "torch" and kind.__name__ in ("Tensor", "Parameter") and value.dim() > 0:
            return value.shape[0]
        if kind.__module__ == "accelerate.data_loader":
            # It gives as many batches as the loader inside, but takes each one a turn early: no loader for is_loader().
            return self.length(value.__dict__.get("base_dataloader"))
        if self.is_loader(value) and value._dataset_kind == 0:
            try:
                return len(value)  # Over a map-style dataset: its sampler asks the same at every pass.
            except Exception:
                return None
        return None

    def is_loader(self, value):
        """Asks the type alone: an attribute of a user's object may be computed by his code."""
        return any(kind.__module__ == "torch.utils.data.dataloader" and kind.__name__ == "DataLoader" for kind in type(value).__mro__)
