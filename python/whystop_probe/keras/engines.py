"""What is particular to a backend of Keras: turning tensors into numbers, and making gradients outside of the training."""

import sys


def engine_of(backend):
    return {"tensorflow": TensorFlowEngine, "torch": TorchEngine, "jax": JaxEngine}[backend]()


class _Engine:
    """Reads values on the host alone. `on_host` is False where that would wait for a device."""

    def versions(self):
        return {}

    def on_host(self):
        return True

    def numpy(self, value):
        """A numpy array of a tensor, a variable or anything array-like."""
        import numpy

        return numpy.asarray(value)

    def take(self, column, rows):
        """Rows of a column of the data."""
        if hasattr(column, "iloc"):  # A table of pandas.
            return column.iloc[rows].to_numpy()
        return self.numpy(column[rows])

    def gradients(self, forward, loss, variables):
        """(what forward gave, gradients of the loss or None). forward() -> outputs; loss(outputs) -> a scalar."""
        return forward(), None


class TensorFlowEngine(_Engine):
    def versions(self):
        return {"tensorflow": str(getattr(sys.modules.get("tensorflow"), "__version__", "")) or None}

    def __init__(self):
        self._host = None

    def on_host(self):
        if self._host is None:
            tensorflow = sys.modules["tensorflow"]
            alone = not tensorflow.config.get_visible_devices("GPU") and not tensorflow.distribute.has_strategy()
            self._host = alone
        return self._host

    def take(self, column, rows):
        if hasattr(column, "iloc") or not hasattr(column, "op_type") and not _is_eager(column):
            return super().take(column, rows)
        if isinstance(rows, slice):
            return column[rows].numpy()
        return sys.modules["tensorflow"].gather(column, rows).numpy()

    def gradients(self, forward, loss, variables):
        tensorflow = sys.modules["tensorflow"]
        own = [getattr(variable, "_value", variable) for variable in variables]
        with tensorflow.GradientTape(watch_accessed_variables=False) as tape:
            for variable in own:
                tape.watch(variable)
            outputs = forward()
            value = loss(outputs)
        found = tape.gradient(value, own)
        return outputs, [None if item is None else tensorflow.convert_to_tensor(item).numpy() for item in found]


def _is_eager(value):
    return type(value).__name__ == "EagerTensor"


class TorchEngine(_Engine):
    def numpy(self, value):
        value = getattr(value, "value", value)
        return value.detach().cpu().numpy() if hasattr(value, "detach") else super().numpy(value)

    def on_host(self):
        return not sys.modules["torch"].cuda.is_initialized()

    def take(self, column, rows):
        return super().take(column, rows)

    def gradients(self, forward, loss, variables):
        torch = sys.modules["torch"]
        own = [variable.value for variable in variables]
        with torch.enable_grad():
            outputs = forward()
            value = loss(outputs)
            found = torch.autograd.grad(value, own, allow_unused=True)
        return outputs, [None if item is None else item.detach().numpy() for item in found]


class JaxEngine(_Engine):
    def versions(self):
        return {"jax": str(getattr(sys.modules.get("jax"), "__version__", "")) or None}

    def on_host(self):
        return sys.modules["jax"].default_backend() == "cpu"

    def numpy(self, value):
        return super().numpy(getattr(value, "value", value))
