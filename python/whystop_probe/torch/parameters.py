"""Statistics of gradients, weights and updates, as many a step as the governor allows."""

import weakref
from time import perf_counter, thread_time

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet
from whystop_probe.core.names import names_text
from whystop_probe.core.weak import WeakTable
from whystop_probe.torch.tensors import nonfinite
from whystop_probe.torch.descent import Descent

_TENSOR_UNITS = 2000  # A tensor costs as much as reading so many values, however small it is.
_UNITS_MAX = 1 << 20  # In one step.
_UPDATE_ELEMENTS_MAX = 1 << 20
_INITIAL_ELEMENTS_MAX = 1 << 25
_DEVICE_ELEMENTS_MAX = 1 << 22
_ROUNDING = 1e-4  # Of the largest weight: a hundred steps of rounding, and far less than one step that tells units apart.
_ROWS_COMPARED_MAX = 64
# The first steps are read each; later some tens of looks a second tell as much as thousands, which would drown all else in the ring.
_DENSE_STEPS = 64
_SAMPLE_EVERY_S = 0.02
_STILL_ALIKE_AT = 100  # Steps.


class Parameters:
    """Walks the parameters round and round; a gradient and its weight are always read together."""

    def __init__(self, torch, training, reader, names):
        self._torch = torch
        self._training = training
        self._reader = reader
        self._names = names
        self._walks = WeakTable()  # optimizer -> _Walk
        self._walk = None  # Of the optimizer that is stepping.
        self.kept = None  # (weak parameter, name, its values before the step)
        self.descent = Descent(torch, training, reader)
        self._next_at = 0.0
        self._alike = []  # (name, weak parameter) of matrices that began with one row for all units.

    @quiet
    def on_optimizer(self, optimizer):
        """Called ahead of an optimizer's step where another one stepped before."""
        walk = self._walks.get(optimizer)
        if walk is None:
            walk = self._walks[optimizer] = _Walk(optimizer, self._names)
            if not self.tell_initial_of(walk.everything()):
                self._initial_of_device(walk)
        self._walk = walk

    @quiet
    def before_step(self, optimizer):
        if self.descent.waits and optimizer is self._training.pulse.first():
            start = thread_time()
            units = self.descent.before_step()
            self._training.governor.spend("agreement", (units or 0) + _TENSOR_UNITS, thread_time() - start)
        if self._walk is not None and self._due():
            self._keep_for_update(self._walk)

    @quiet
    def after_step(self, optimizer):
        """Called where the tokens allow for it."""
        if self._walk is None:
            return
        if self._alike and self._training.step >= _STILL_ALIKE_AT:
            self._tell_if_still_alike()
        self._update_of_kept(optimizer)
        if self._due():
            self._next_at = perf_counter() + _SAMPLE_EVERY_S
            self._sample(self._walk)
        item = self._walk.peek()
        units = 2 * (item[1].numel() + _TENSOR_UNITS) if item is not None else _UNITS_MAX
        self._training.pulse.sample_cost_s = self._training.governor.cost("stats", units)

    def _due(self):
        return self._training.step <= _DENSE_STEPS or perf_counter() >= self._next_at

    def full_pass(self, optimizer):
        """Reads everything now, whatever it costs; returns names with non-finite gradients and with such weights."""
        walk = self._walks.get(optimizer) or _Walk(optimizer, self._names)
        items = list(walk.everything())
        if not items:
            return [], []
        grads = self._reader.stats([parameter.grad for _, parameter in items])
        weights = self._reader.stats([parameter.detach() for _, parameter in items])
        writer, step = self._training.channel.writer, self._training.step
        for (name, _), grad, weight in zip(items, grads, weights):
            if nonfinite(grad):
                writer.stats(ring.WHAT_GRADIENT, name, step, grad)
            if nonfinite(weight):
                writer.stats(ring.WHAT_WEIGHT, name, step, weight)
        bad_grads = [name for (name, _), stats in zip(items, grads) if nonfinite(stats)]
        bad_weights = [name for (name, _), stats in zip(items, weights) if nonfinite(stats)]
        return bad_grads, bad_weights

    def gradient_nearest_input_is_nonfinite(self):
        """A NaN that arises in a backward pass spreads towards the input, so one small tensor there tells."""
        parameter = self._walk.sentinel() if self._walk is not None else None
        if parameter is None or parameter.grad is None or parameter.grad.numel() > _TENSOR_UNITS:
            return False
        return nonfinite(self._reader.stats([parameter.grad])[0]) > 0

    def tell_initial_of(self, items):
        """(name, tensor) of the weights before any step: their scale, and layers whose units are all the same. Returns whether all of
        them could be read here."""
        writer, step, elements, same, gains = self._training.channel.writer, self._training.step, 0, [], []
        readable = True
        for name, parameter in items:
            elements += parameter.numel()
            readable = self._reader.readable(parameter)
            if elements > _INITIAL_ELEMENTS_MAX or not readable:
                break
            stats = self._reader.stats([parameter.detach()])[0]
            if stats is not None:
                writer.stats(ring.WHAT_WEIGHT, name, step, stats)
            if parameter.dim() >= 2 and self._rows_equal(parameter.detach()):
                same.append(name)
                self._alike.append((name, weakref.ref(parameter)))
            elif parameter.dim() >= 2 and stats is not None:
                gains.append(_gain(stats, parameter.shape[0]))
        self._tell_initial(step, same, gains)
        return readable

    def _initial_of_device(self, walk):
        """The same, told when it has arrived: the weights first, then which of the matrices have one row for all."""
        items, elements, step = [], 0, self._training.step
        for name, parameter in walk.everything():
            elements += parameter.numel()
            if elements > _DEVICE_ELEMENTS_MAX:
                break
            items.append((name, parameter.detach()))
        names, stats = [name for name, _ in items], []
        rows = {index: tensor.shape[0] for index, (_, tensor) in enumerate(items) if tensor.dim() >= 2 and tensor.shape[0] >= 2}

        @quiet
        def weights_arrived(found):
            stats.extend(found)
            self._write_weights(names, found, step)

        @quiet
        def rows_arrived(equal):
            same = [names[index] for index, flag in zip(rows, equal) if flag]
            known = [index for index, flag in zip(rows, equal) if not flag and stats and stats[index] is not None]
            self._tell_initial(step, same, [_gain(stats[index], rows[index]) for index in known])

        self._reader.stats_of([tensor for _, tensor in items], weights_arrived)
        if rows:
            self._reader.numbers_of([(items[index][1] == items[index][1][:1]).all() for index in rows], rows_arrived)

    def _write_weights(self, names, stats, step):
        for name, found in zip(names, stats):
            if found is not None:
                self._training.channel.writer.stats(ring.WHAT_WEIGHT, name, step, found)

    def _tell_initial(self, step, same, gains):
        if gains:
            self._training.channel.observe("initial-gain", step, matrices=len(gains), median=sorted(gains)[len(gains) // 2])
        if same:
            self._training.channel.observe("identical-rows", step, count=len(same), names=names_text(same), when="before the first step")

    def _tell_if_still_alike(self):
        """Units that begin alike and get the same gradient stay alike; where something tells them apart, nothing was wrong."""
        alike, self._alike = [(name, reference()) for name, reference in self._alike], []
        moved = [(name, weight) for name, weight in alike if weight is not None and weight.grad is not None and bool(weight.grad.any())]
        # The units of a table of embeddings are its columns.
        same = [name for name, weight in moved if self._rows_alike(weight.detach()) or (weight.dim() == 2 and self._rows_alike(weight.detach().t()))]
        step = self._training.step
        self._training.channel.observe("identical-rows", step, count=len(same), names=names_text(same), when=f"after {step} steps")

    def _rows_alike(self, weight):
        """But for what rounding makes of sums that are equal: a kernel adds up each unit's in an order of its own."""
        if weight.shape[0] < 2 or weight[0].numel() == 0:
            return False
        return float((weight - weight[:1]).abs().max()) <= _ROUNDING * float(weight.abs().max())

    def _rows_equal(self, weight):
        rows = weight.shape[0]
        if rows < 2 or weight[0].numel() == 0:
            return False
        probes = range(1, rows, max(1, rows // _ROWS_COMPARED_MAX))
        return all(self._torch.equal(weight[0], weight[row]) for row in probes)

    def _keep_for_update(self, walk):
        self.kept = None
        item = walk.next_matrix()
        if item is None:
            return
        name, parameter = item
        count = parameter.numel()
        if count > _UPDATE_ELEMENTS_MAX or not self._reader.within_reach(parameter):
            return
        if not self._training.governor.affords("update", count + 4 * _TENSOR_UNITS):
            return
        start = thread_time()
        with self._torch.no_grad():
            self.kept = (weakref.ref(parameter), name, parameter.detach().clone(), thread_time() - start)

    def _update_of_kept(self, optimizer):
        kept, self.kept = self.kept, None
        if kept is None:
            return
        reference, name, values, seconds = kept
        parameter = reference()
        if parameter is None or parameter.shape != values.shape:
            return
        start, step = thread_time(), self._training.step
        with self._torch.no_grad():
            update = parameter.detach() - values
            self._reader.stats_of([update], quiet(lambda stats: self._write_update(name, step, stats)))
            if optimizer is self._training.pulse.first():
                self.descent.on_update(name, parameter, update)
        seconds += thread_time() - start
        self._training.governor.spend("update", values.numel() + 4 * _TENSOR_UNITS, seconds)

    def _sample(self, walk):
        governor = self._training.governor
        units, items = 0, []
        while units < _UNITS_MAX:
            item = walk.peek()
            if item is None:
                break
            more = 2 * (item[1].numel() + _TENSOR_UNITS)
            if not governor.affords("stats", units + more):
                break
            units += more
            items.append(item)
            if walk.advance():
                break  # Once around is enough for one step.
        if not items:
            return
        start = thread_time()
        tensors = []
        for _, parameter in items:
            tensors += (parameter.grad, parameter.detach())
        names, step = [name for name, _ in items], self._training.step
        self._reader.stats_of(tensors, quiet(lambda stats: self._write(names, step, stats)))
        governor.spend("stats", units, thread_time() - start)

    def _write_update(self, name, step, stats):
        if stats[0] is not None:
            self._training.channel.writer.stats(ring.WHAT_UPDATE, name, step, stats[0])

    def _write(self, names, step, stats):
        """A gradient and a weight of each name."""
        writer = self._training.channel.writer
        for index, name in enumerate(names):
            if stats[2 * index] is not None:
                writer.stats(ring.WHAT_GRADIENT, name, step, stats[2 * index])
            if stats[2 * index + 1] is not None:
                writer.stats(ring.WHAT_WEIGHT, name, step, stats[2 * index + 1])


def _gain(stats, rows):
    """How much a layer with these weights enlarges what it is given: the root of the squares that a row sums up to."""
    return (stats[7] / rows) ** 0.5


class _Walk:
    """A place in the list of one optimizer's parameters. Holds them weakly."""

    def __init__(self, optimizer, names):
        self._items = []
        self._at = 0
        self._matrix_at = -1
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                name = names.of(parameter, f"parameter{len(self._items)}")
                self._items.append((name, weakref.ref(parameter)))

    def everything(self):
        for name, reference in self._items:
            parameter = reference()
            if parameter is not None:
                yield name, parameter

    def peek(self):
        if not self._items:
            return None
        name, reference = self._items[self._at]
        parameter = reference()
        return None if parameter is None else (name, parameter)

    def advance(self):
        """To the next parameter; True when the walk begins anew."""
        self._at = (self._at + 1) % len(self._items)
        return self._at == 0

    def next_matrix(self):
        """Another weight each time, round and round: where one sample takes in all parameters the walk itself stands still."""
        for _ in range(len(self._items)):
            self._matrix_at = (self._matrix_at + 1) % len(self._items)
            name, reference = self._items[self._matrix_at]
            parameter = reference()
            if parameter is not None and parameter.dim() >= 2:
                return name, parameter
        return self.peek()

    def sentinel(self):
        """A small tensor near the input: the second one is the first layer's bias in nearly all models."""
        for _, reference in self._items[1:2] + self._items[:1]:
            parameter = reference()
            if parameter is not None:
                return parameter
        return None
