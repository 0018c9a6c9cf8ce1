"""What is particular to a backend of Keras: turning tensors into numbers, and making gradients outside of the training."""

import sys


def engine_of(backend):
    return {"tensorflow": TensorFlowEngine, "torch": TorchEngine, "jax": JaxEngine}[backend]()


class _Engine:
    """Reads values on the host alone. `on_host` is False where that would wait for a device."""

    finds_logits = False  # Whether a loss takes what went into a last softmax instead of what came out of it.

    def versions(self):
        return {}

    def on_host(self):
        return True

    def eager(self):
        """Whether operations run as they are called, now: not while a graph is being traced."""
        return True

    def is_value(self, tensor):
        """Whether a tensor holds numbers, and is no stand-in of a tracer."""
        return self.eager()

    def dense(self, gradient):
        return self.numpy(gradient)

    def mean(self, values):
        return values.mean()

    def numpy(self, value):
        """A numpy array of a tensor, a variable or anything array-like."""
        import numpy

        return numpy.asarray(value)

    def value(self, model, variable):
        """The values of a variable of this model, as they are now."""
        return self.numpy(variable)

    def take(self, column, rows):
        """Rows of a column of the data."""
        if hasattr(column, "iloc"):  # A table of pandas.
            return column.iloc[rows].to_numpy()
        return self.numpy(column[rows])

    def gradients(self, model, forward, loss):
        """(what forward gave, gradients of the loss by the trainable variables). forward() -> outputs; loss(outputs) -> a scalar."""
        raise NotImplementedError

    def outputs(self, model, forward):
        """What forward gave, without gradients."""
        return forward()


class TensorFlowEngine(_Engine):
    finds_logits = True

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

    def eager(self):
        return sys.modules["tensorflow"].executing_eagerly()

    def is_value(self, tensor):
        return _is_eager(tensor)

    def dense(self, gradient):
        return sys.modules["tensorflow"].convert_to_tensor(gradient).numpy()

    def mean(self, values):
        return sys.modules["tensorflow"].reduce_mean(values)

    def take(self, column, rows):
        if not _is_eager(column):
            return super().take(column, rows)
        if isinstance(rows, slice):
            return column[rows].numpy()
        return sys.modules["tensorflow"].gather(column, rows).numpy()

    def gradients(self, model, forward, loss):
        tensorflow = sys.modules["tensorflow"]
        own = [getattr(variable, "_value", variable) for variable in model.trainable_variables]
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

    def gradients(self, model, forward, loss):
        """Those of the last step: Keras leaves them where PyTorch puts them until the next one."""
        with sys.modules["torch"].no_grad():
            outputs = forward()
        found = [variable.value.grad for variable in model.trainable_variables]
        return outputs, None if all(item is None for item in found) else [None if item is None else self.numpy(item) for item in found]


class JaxEngine(_Engine):
    def is_value(self, tensor):
        return "Tracer" not in type(tensor).__name__

    def versions(self):
        return {"jax": str(getattr(sys.modules.get("jax"), "__version__", "")) or None}

    def on_host(self):
        return sys.modules["jax"].default_backend() == "cpu"

    def numpy(self, value):
        return super().numpy(getattr(value, "value", value))

    def value(self, model, variable):
        """Inside fit the variables are empty: their values travel from step to step in the trainer's own state."""
        values = self._values(model)
        return super().numpy(values[id(variable)]) if id(variable) in values else self.numpy(variable)

    def _values(self, model):
        state = getattr(model, "_jax_state", None) or {}
        found = {}
        for name, variables in _variables_of(model).items():
            for variable, value in zip(variables, state.get(name) or ()):
                found[id(variable)] = value
        return found

    def outputs(self, model, forward):
        values = self._values(model)
        variables = {id(variable): variable for group in _variables_of(model).values() for variable in group}
        mapping = [(variables[key], value) for key, value in values.items()]
        with sys.modules["keras.src.backend"].StatelessScope(state_mapping=mapping):
            return forward()

    def gradients(self, model, forward, loss):
        """None: outside of a compiled function JAX compiles each operation and its derivative once, which took a second."""
        return self.outputs(model, forward), None


def _variables_of(model):
    optimizer = getattr(model, "optimizer", None)
    return {
        "trainable_variables": list(model.trainable_variables),
        "non_trainable_variables": list(model.non_trainable_variables),
        "optimizer_variables": list(optimizer.variables) if optimizer is not None else [],
        "metrics_variables": list(model.metrics_variables),
    }
