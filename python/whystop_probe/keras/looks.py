"""Looks at the data, the weights and the gradients of one fit, beside the training and never inside its graph.

In graph mode nothing of a step can be seen from Python, and what is put into a graph may change its results or its speed.
So a sampled look computes a small batch once more, outside: outputs, loss, gradients and activations, in inference mode,
which draws no random numbers and changes no state. Only layers and losses of Keras itself are called so: code of the
user's may do anything. Weights and their updates are read from the variables.
"""

from time import perf_counter, thread_time

import numpy

from whystop_probe.core import arrays, ring
from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text
from whystop_probe.keras import data as data_module
from whystop_probe.keras import describe
from whystop_probe.keras.forward import Forward
from whystop_probe.keras.masks import empty_samples

_SAMPLED = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
_PARAMETERS_MAX = 20_000_000
_WORK_MAX = 4_000_000_000  # Parameters times rows, of one look.
_LOOK_EVERY_S = 0.5
_UPDATE_EVERY_S = 0.05
_UPDATE_ELEMENTS_MAX = 1 << 20
_ROWS_COMPARED_MAX = 64
_WHOLE_STEPS = 64  # Behind these, a step at which an update is measured reads the rate no second time.
_NONFINITE_REPORTS_MAX = 3
_MET_BEFORE_MAX = 3.0  # So many of them should have come before by chance: that none did has a chance of 5 %.


class Looks:
    def __init__(self, training, engine, fit, masks=None):
        self._training = training
        self._engine = engine
        self._masks = masks
        self._fit = fit
        self._model = fit.model
        self._data = None
        self._forward = None
        self._calls = 0
        self._due = list(_SAMPLED)
        self._next_look = self._next_update = 0.0
        self._kept = None
        self._matrix = 0
        self._reports = 0
        self._start_step = training.step
        self._begun = False
        self._asks_for_means = True
        self.wants_update = False
        self.batch_sizes = None
        self.data_kind = None

    @quiet
    def begin(self):
        if getattr(self._model, "built", False):
            self._begin()

    def _begin(self):
        self._begun = True
        channel, step, model = self._training.channel, self._training.step, self._model
        self._find_data()
        describe.tell_model(channel, model, step)
        rate = self._read_rate()
        describe.tell_optimizer(channel, model.optimizer, model.trainable_variables, rate, step)
        channel.observe("mode", step, training=True)
        self._compare_with_optimizer()
        if not self._engine.on_host():
            return
        self._initial_weights()
        self._tell_penalty()
        describe.tell_norms(channel, model, self._data.batch_size if self._data is not None else None, step)
        self._tell_batch(0)
        self._forward = Forward.of(model, self._engine)
        self._look(0)

    @quiet
    def _find_data(self):
        iterator = self._fit.iterator
        adapter = getattr(iterator, "data_adapter", None)
        self._data = data_module.of_adapter(adapter, iterator) if adapter is not None else data_module.of_arguments(self._fit.arguments)
        self.data_kind = self._data.kind
        self.batch_sizes = self._data.batch_sizes()
        if self._data.batches is None:
            self._data.batches = self._fit.batches_planned
        self._data.tell(self._training.channel, self._training.step, self._engine.take)
        arguments = self._fit.arguments
        if arguments.get("validation_split"):
            data_module.tell_split(self._training.channel, self._training.step, arguments["validation_split"], self._data, arguments.get("y"))

    def _tell_batch(self, number):
        rows = self._data.rows(number)
        if rows is None:
            return
        for place, column in zip(("0", "1"), self._data.columns):
            if column is not None and not isinstance(column, (list, tuple, dict)):
                facts = arrays.batch_facts(self._engine.take(column, rows))
                self._training.channel.observe("batch", self._training.step, loader=0, batch=number + 1, place=place, **facts)

    @quiet
    def _compare_with_optimizer(self):
        """Which variables of the model the optimizer has. It is built at the first fit; what is made trainable later stays away."""
        model, optimizer = self._model, describe.inner_optimizer(self._model.optimizer)
        held = getattr(optimizer, "_trainable_variables", None)
        if not getattr(optimizer, "built", False) or not held:
            return
        known = {id(variable) for variable in held}
        left = [self._name(variable) for variable in model.trainable_variables if id(variable) not in known]
        if left:
            self._training.channel.observe("parameter-not-in-optimizer", self._training.step, steps=0, count=len(left), names=names_text(left))

    def _name(self, variable):
        path = getattr(variable, "path", None) or variable.name
        prefix = f"{self._model.name}/"
        return path[len(prefix) :] if path.startswith(prefix) else path

    def _initial_weights(self):
        writer, step, same, gains = self._training.channel.writer, self._training.step, [], []
        read = 0
        for variable in self._model.trainable_variables:
            value = self._engine.value(self._model, variable)
            read += value.size
            if read > _PARAMETERS_MAX:
                break
            found = arrays.stats(value)
            if found is not None:
                writer.stats(ring.WHAT_WEIGHT, self._name(variable), step, found)
            if value.ndim >= 2 and self._training.step == 0 and not self._name(variable).endswith("bias"):  # That of a GRU is a table.
                if _columns_equal(value):
                    same.append(self._name(variable))
                else:
                    gains.append(float(numpy.square(value.astype(numpy.float64)).sum() / value.shape[-1]) ** 0.5)
        channel = self._training.channel
        if gains:
            channel.observe("initial-gain", step, matrices=len(gains), median=sorted(gains)[len(gains) // 2])
        if same:
            channel.observe("identical-rows", step, count=len(same), names=names_text(same), when="before the first step")

    @quiet
    def _tell_penalty(self):
        describe.tell_penalty(self._training.channel, self._model, lambda variable: self._engine.value(self._model, variable), self._training.step)

    def _read_rate(self):
        rate = self._rate(describe.inner_optimizer(self._model.optimizer)) if self._engine.on_host() else None
        return self._fit.stepper.set_rate(rate)

    def _rate(self, optimizer):
        own = getattr(optimizer, "_learning_rate", None)
        return self._engine.value(self._model, own) if hasattr(own, "assign") else self._engine.numpy(optimizer.learning_rate)

    def attend(self):
        """After a step. Returns whether the next one is wanted too."""
        training, governor = self._training, self._training.governor
        if not self._begun:
            self._begin()  # A model that is built by its first batch.
        if not self._engine.on_host():
            return False
        if self._asks_for_means:
            self._asks_for_means = False
            self._ask_for_means()
        step, now = training.step - self._start_step, perf_counter()
        if self._kept is None or step <= _WHOLE_STEPS:
            self._read_rate()
        self._update_of_kept()
        if self._due and step >= self._due[0]:
            self._due = [due for due in self._due if due > step]
            self._look(self._fit.batches)
        elif now >= self._next_look and governor.affords("look"):
            self._next_look = now + _LOOK_EVERY_S
            self._look(self._fit.batches)
        if now >= self._next_update and governor.affords("update"):
            self._next_update = now + _UPDATE_EVERY_S
            self.wants_update = True
            self._fit.open_begin()
        return self.wants_update

    @quiet
    def _ask_for_means(self):
        if describe.logs_own_losses(self._model, lambda variable: self._engine.value(self._model, variable)):
            self._fit.losses_are_own()

    @quiet
    def keep(self):
        """Ahead of a step: the values of one matrix, another one each time."""
        self.wants_update = False
        matrices = [variable for variable in self._model.trainable_variables if len(variable.shape) >= 2]
        if not matrices or (self._fit.model is not None and self._executions() > 1):
            return
        self._matrix = (self._matrix + 1) % len(matrices)
        variable = matrices[self._matrix]
        if describe._size(variable) > _UPDATE_ELEMENTS_MAX:
            return
        start = thread_time()
        values = numpy.array(self._engine.value(self._model, variable))
        self._kept = (variable, values, thread_time() - start)

    def _executions(self):
        count = getattr(self._model, "steps_per_execution", 1)
        return count if isinstance(count, int) else 1

    def _update_of_kept(self):
        kept, self._kept = self._kept, None
        if kept is None:
            return
        variable, before, seconds = kept
        start = thread_time()
        after = self._engine.value(self._model, variable)
        if after.shape == before.shape:
            writer, step, name = self._training.channel.writer, self._training.step, self._name(variable)
            update = arrays.stats(after - before)
            weight = arrays.stats(numpy.ascontiguousarray(after))
            if update is not None and weight is not None:
                writer.stats(ring.WHAT_UPDATE, name, step, update)
                writer.stats(ring.WHAT_WEIGHT, name, step, weight)
        self._training.governor.spend("update", 1, seconds + thread_time() - start)

    @quiet
    def _look(self, number):
        forward, rows = self._forward, self._data.rows(number) if self._data is not None else None
        if forward is None or rows is None or self._data.columns[0] is None:
            return
        parameters = sum(describe._size(variable) for variable in self._model.trainable_variables)
        if parameters > _PARAMETERS_MAX or parameters * len(rows) > _WORK_MAX:
            return
        start = thread_time()
        x, y = (self._take(column, rows) for column in self._data.columns)
        self._calls += 1
        seen = forward.run(x, y, self._calls)
        self._tell(seen)
        self._training.governor.spend("look", 1, thread_time() - start)

    def _take(self, column, rows):
        if isinstance(column, dict):
            return {name: self._take(item, rows) for name, item in column.items()}
        if isinstance(column, (list, tuple)):
            return type(column)(self._take(item, rows) for item in column)
        return None if column is None else self._engine.take(column, rows)

    def _tell(self, seen):
        channel, writer, step = self._training.channel, self._training.channel.writer, self._training.step
        if seen.loss_call:
            channel.observe("loss-call", step, **seen.loss_call)
        for facts in seen.activations:
            channel.observe("activation", step, **facts)
        if seen.gradients is None:
            return
        for variable, gradient in zip(self._model.trainable_variables, seen.gradients):
            weight = arrays.stats(numpy.ascontiguousarray(self._engine.value(self._model, variable)))
            found = arrays.stats(numpy.ascontiguousarray(gradient)) if gradient is not None else None
            if found is not None:
                writer.stats(ring.WHAT_GRADIENT, self._name(variable), step, found)
            if weight is not None:
                writer.stats(ring.WHAT_WEIGHT, self._name(variable), step, weight)

    @quiet
    def on_nonfinite(self, value):
        """Where it came from, as far as can be said when the step has been made: the data, or not."""
        self._reports += 1
        if self._reports > _NONFINITE_REPORTS_MAX or not self._engine.on_host():
            return
        bad = []
        for place, column in zip(("input", "target"), self._data.columns or ()):
            if hasattr(column, "shape") and arrays.nonfinite(arrays.stats(numpy.ascontiguousarray(self._engine.take(column, slice(None))))):
                bad.append(place)
        weights = []
        for variable in self._model.trainable_variables:
            if arrays.nonfinite(arrays.stats(numpy.ascontiguousarray(self._engine.value(self._model, variable)))):
                weights.append(self._name(variable))
        facts = {"weights": len(weights), "weight_names": names_text(weights), "operand": ",".join(bad) or None}
        masked = 0 if bad else self._masked_samples()
        if masked:  # The weights were lost by the step that followed.
            facts = {"operation": "softmax", "operand": f"minus infinity, by which scores are masked ({masked} samples are all zero),"}
        self._training.channel.observe(
            "nonfinite",
            self._training.step,
            first="input" if bad else "loss",
            report=self._reports,
            loss=value,
            gradients=0,
            operand_from_outside=bool(bad) or None,
            **facts,
        )

    def _masked_samples(self):
        """Samples that leave nothing unmasked, as far as can be said: the model masks scores by infinity, these are all padding, and none
        need have been in a batch before this one. Whatever was trained on without harm is not to blame."""
        inputs, step = self._data.columns[0] if self._data.columns else None, self._training.step - self._start_step
        if self._masks is None or not self._masks.seen or not hasattr(inputs, "shape") or not self._data.batches or step > self._data.batches:
            return 0
        count = empty_samples(self._engine.take(inputs, slice(None)))
        return count if not self._data.shuffle or (step - 1) / self._data.batches * count < _MET_BEFORE_MAX else 0

    @quiet
    def epoch_end(self):
        if self._engine.on_host():
            self._read_rate()

    @quiet
    def close(self):
        if self._begun and self._engine.on_host():
            self._tell_penalty()
        self._model = self._fit = self._data = self._forward = self._kept = None


def _columns_equal(value):
    """Whether all units of a layer have the same weights. Keras keeps the units in the last dimension."""
    rows = value.reshape(-1, value.shape[-1])
    if rows.shape[1] < 2 or rows.shape[0] == 0:
        return False
    probes = range(1, rows.shape[1], max(1, rows.shape[1] // _ROWS_COMPARED_MAX))
    return all((rows[:, 0] == rows[:, column]).all() for column in probes)
