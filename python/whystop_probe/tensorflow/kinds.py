"""Tensors and datasets among the variables of a training loop."""

from whystop_probe.core import kinds


class TensorFlowKinds(kinds.Kinds):
    packages = ("tensorflow.python.framework.ops",)

    def number(self, value):
        """A tensor on a device is not asked for: the answer would wait for it."""
        if type(value).__name__ != "EagerTensor" or value.shape.rank != 0 or "CPU" not in value.device:
            return None
        return value.numpy().item() if value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_bool else None

    def length(self, value):
        kind = type(value)
        if kind.__name__ == "EagerTensor" and value.shape.rank:
            return value.shape[0]
        if any(base.__name__ == "DatasetV2" and base.__module__ == "tensorflow.python.data.ops.dataset_ops" for base in kind.__mro__):
            count = int(value.cardinality())
            return count if count >= 0 else None  # Infinite, or not known.
        return None
