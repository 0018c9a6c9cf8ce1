"""Data loaders: what they plan, how long the loop waits for them, and what the batches look like."""

from collections import Counter
from time import thread_time

from whystop_probe.core.guard import quiet
from whystop_probe.core.pulse import DATA_END
from whystop_probe.core.weak import WeakTable
from whystop_probe.torch.columns import Columns, fits
from whystop_probe.torch.tensors import dtype_text, moments, nonfinite, shape_text

_SAMPLED = (1, 2, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
_NEVER = 1 << 40
_POOR = 4  # Batches until the next try, where there are no tokens.
_TENSORS_MAX = 6
_LOADERS_TOLD_MAX = 8
_VALUES_MAX = 2048  # Looked at one by one, for distinct values and labels.
_CLASSES_MAX = 200
_LABEL_BATCHES_MAX = 200
_LABELS_SHARE = 0.5  # Of the tokens that steps earn, while labels are being counted.


class Loaders:
    """Listens to DataLoader iterators. Labels are counted over the first batches, other facts on sampled ones."""

    def __init__(self, torch, training, reader):
        self._torch = torch
        self._training = training
        self._reader = reader
        self._loaders = WeakTable()  # loader -> _Seen
        self._iterators = WeakTable()  # iterator -> _Seen
        self._current = None  # The _Seen of the iterator that gave the last batch.
        self._all = []  # The first _Seen of the process.
        self._steps_then = 0
        training.pulse.look_at_batch = self._look_at_batch
        training.pulse.other_iterator = self._other_iterator

    @quiet
    def after_iter(self, iterator, loader):
        seen = self._loaders.get(loader)
        if seen is None:
            seen = self._loaders[loader] = _Seen(len(self._loaders), id(loader.dataset))
            self._all += [seen] if len(self._all) < _LOADERS_TOLD_MAX else []
            self._describe(loader, seen)
        seen.passes += 1
        self._iterators[iterator] = seen

    def data_looked_at(self):
        """What the batches since the last step are of: a number for the data set of the loader that gives them, 0 where they are made by hand.
        None: it is trained on, or nothing is known."""
        if self._training.pulse.batches == 0:
            return 0
        seen = self._current
        return None if seen is None or any(other.steps for other in self._all if other.data == seen.data) else seen.data

    @quiet
    def _other_iterator(self, iterator):
        self._count_pending()
        self._current = self._iterators.get(iterator)

    @quiet
    def _look_at_batch(self, batch, iterator):
        """Called for the batches that were asked for by data_due_in."""
        self._count_pending()
        seen, pulse, governor = self._current, self._training.pulse, self._training.governor
        if seen is None:
            pulse.data_due_in = _NEVER
            return
        start, spent_then = thread_time(), governor.measured_s
        sampled = seen.batches in _SAMPLED
        if sampled:
            self._look(batch, seen)
        elif governor.affords("labels"):
            self._fetch(batch, quiet(lambda tensors: self._count(tensors, seen)))
        else:
            pulse.data_due_in = _POOR
            return
        governor.spend("batch" if sampled else "labels", 1, max(0.0, thread_time() - start - (governor.measured_s - spent_then)))
        due = next((count for count in _SAMPLED if count > seen.batches), _NEVER) - seen.batches
        labels_wanted = seen.has_labels and seen.label_batches < _LABEL_BATCHES_MAX
        if labels_wanted or any(not columns.full for columns in seen.columns.values()):
            due = min(due, 1 + governor.steps_between("labels", _LABELS_SHARE))
        pulse.data_due_in = due

    def _count_pending(self):
        pulse = self._training.pulse
        if self._current is not None:
            self._current.batches += pulse.data_pending
            self._current.steps += pulse.steps - self._steps_then
        self._steps_then = pulse.steps
        pulse.data_pending = 0

    @quiet
    def tell_passes(self):
        """How many passes over each loader were begun and came to their end, and what they gave."""
        self._count_pending()
        for seen in self._all:
            self._training.channel.observe(
                "passes", self._training.step, loader=seen.number, begun=seen.passes, ended=seen.ended, batches=seen.batches, steps=seen.steps
            )

    @quiet
    def failed_next(self, error, iterator):
        training = self._training
        if isinstance(error, StopIteration):
            seen = self._iterators.get(iterator)
            if seen is not None:
                seen.ended += 1
            if seen is not None and seen.has_labels and seen.passes == 1:
                self._tell_labels(seen)
            if training.pulse.kinds & DATA_END:
                training.pulse.loop_event("data-end")
            return
        training.channel.observe("call-failed", training.step, call="data loader", type=type(error).__name__, message=str(error)[:1500])

    def _describe(self, loader, seen):
        sampler = type(loader.sampler).__name__
        self._training.channel.observe(
            "loader",
            self._training.step,
            loader=seen.number,
            batches=_length(loader, loader),
            batch_size=loader.batch_size,
            dataset=type(loader.dataset).__name__,
            dataset_len=_length(loader, loader.dataset),
            workers=loader.num_workers,
            shuffle="RandomSampler" in sampler or bool(getattr(loader.sampler, "shuffle", False)),
            sampler=sampler,
            drop_last=loader.drop_last,
            pin_memory=loader.pin_memory,
            persistent_workers=loader.persistent_workers,
            timeout_s=loader.timeout,
        )

    def _fetch(self, batch, arrived):
        """Calls arrived([(place, tensor in host memory)]), now or when a device has copied them."""
        found = _tensors(batch)
        if found:
            self._reader.fetch([tensor for _, tensor in found], lambda here: arrived([(place, tensor) for (place, _), tensor in zip(found, here)]))

    def _count(self, tensors, seen):
        self._count_labels(tensors, seen)
        self._gather_columns(tensors, seen)

    def _look(self, batch, seen):
        step, number, shapes = self._training.step, seen.batches, [shape_text(tensor) for _, tensor in _tensors(batch)]

        @quiet
        def arrived(tensors):
            self._count(tensors, seen)
            for shape, (place, tensor) in zip(shapes, tensors):
                facts = batch_facts(self._reader, tensor, shape)
                self._training.channel.observe("batch", step, loader=seen.number, batch=number, place=place, **facts)

        self._fetch(batch, arrived)

    def _gather_columns(self, tensors, seen):
        """Of the loader that trains, as far as can be known: the first one."""
        for place, tensor in tensors if seen.number == 0 else ():
            if not self._reader.readable(tensor) or not fits(tensor):
                continue
            if place not in seen.columns:
                seen.columns[place] = Columns(self._torch, self._training, place)
            seen.columns[place].add(tensor, self._answers_to(tensor, tensors))

    def _answers_to(self, table, tensors):
        """What the samples of a table are to be told by: the batch's last tensor, if that has one value a sample."""
        last = tensors[-1][1]
        return last if last is not table and last.numel() == table.shape[0] and self._reader.readable(last) else None

    def _count_labels(self, tensors, seen):
        labels = _labels(tensors, self._reader)
        if labels is None:
            seen.has_labels = False
            return
        seen.has_labels = True
        seen.label_batches += 1
        counts = Counter(labels)
        seen.labels.update(counts)
        seen.distinct_in_batches += len(counts)
        seen.samples += len(labels)
        if len(seen.labels) > _CLASSES_MAX:
            seen.has_labels = False  # No classes: numbers.
        elif seen.label_batches in _SAMPLED or seen.label_batches == _LABEL_BATCHES_MAX:
            self._tell_labels(seen)

    def _tell_labels(self, seen):
        if seen.told == seen.label_batches or not seen.labels:
            return
        seen.told = seen.label_batches
        self._training.channel.observe(
            "labels",
            self._training.step,
            loader=seen.number,
            batches=seen.label_batches,
            samples=seen.samples,
            classes=len(seen.labels),
            min=min(seen.labels),
            max=max(seen.labels),
            counts=",".join(f"{label}:{count}" for label, count in seen.labels.most_common(40)),
            majority=seen.labels.most_common(1)[0][1] / seen.samples,
            distinct_in_batch_mean=seen.distinct_in_batches / seen.label_batches,
        )


class _Seen:
    """What was seen of one loader."""

    def __init__(self, number, data):
        self.number = number
        self.data = data  # Of the data set: a loader may be made anew for every look.
        self.passes = 0  # Begun.
        self.ended = 0  # Of these, to the last batch.
        self.batches = 0
        self.steps = 0  # Of the optimizer, after a batch of this loader and before one of another.
        self.has_labels = True
        self.label_batches = 0
        self.labels = Counter()
        self.distinct_in_batches = 0
        self.samples = 0
        self.told = 0
        self.columns = {}  # place -> Columns


def batch_facts(reader, tensor, shape):
    """Type and range of one tensor of a batch, or of its leading rows; `shape` is that of the whole."""
    facts = {"shape": shape, "dtype": dtype_text(tensor)}
    if not reader.readable(tensor) or tensor.numel() == 0:
        return facts
    stats = reader.stats([tensor])[0]
    if stats is None:
        return facts
    mean, std = moments(stats)
    facts.update(count=stats[0], nan=stats[1], inf=stats[2], zero=stats[3], min=stats[4], max=stats[5], mean=mean, std=std)
    facts["nonfinite"] = nonfinite(stats)
    values = tensor.detach().reshape(-1)[:_VALUES_MAX].tolist()
    facts["looked_at"] = len(values)
    facts["distinct"] = len(set(values))
    facts["integer_valued"] = all(value == value and abs(value) < 1e15 and value == int(value) for value in values)
    if tensor.dim() >= 2 and 1 < tensor.shape[-1] <= 512 and tensor.dtype.is_floating_point:
        facts.update(_columns(reader, tensor))
    return facts


def _columns(reader, tensor):
    """Features in wildly different ranges show in the spread of the columns' deviations."""
    rows = tensor.detach().reshape(-1, tensor.shape[-1])[:_VALUES_MAX]
    if rows.shape[0] < 2 or tensor.dim() != 2:
        return {}
    deviations = rows.double().std(dim=0)
    return {"column_std_min": float(deviations.min()), "column_std_max": float(deviations.max()), "columns": rows.shape[1]}


def _tensors(batch):
    """The tensors of a batch with their places ("0", "1", "labels"), bounded and in order."""
    found = []

    def walk(item, place, depth):
        if len(found) >= _TENSORS_MAX or depth > 3:
            return
        if hasattr(item, "data_ptr"):
            found.append((place or "batch", item))
        elif isinstance(item, dict):
            for key, value in item.items():
                walk(value, f"{place}.{key}" if place else str(key), depth + 1)
        elif isinstance(item, (list, tuple)):
            for index, value in enumerate(item):
                walk(value, f"{place}.{index}" if place else str(index), depth + 1)

    walk(batch, "", 0)
    return found


def _labels(tensors, reader):
    """Class numbers: the last tensor of whole numbers with one value a sample; None where there is none."""
    for place, tensor in reversed(tensors):
        whole = not tensor.dtype.is_floating_point and not tensor.dtype.is_complex
        column = tensor.dim() == 1 or (tensor.dim() == 2 and tensor.shape[1] == 1)
        if whole and column and reader.readable(tensor) and len(tensors) > 1:
            return [int(value) for value in tensor.detach().reshape(-1)[:_VALUES_MAX].tolist()]
    return None


def _length(loader, sized):
    """len() of a loader or its dataset. Not of a stream: torch remembers that question and warns later. For the others
    the sampler has asked the same just before."""
    if getattr(loader, "_dataset_kind", None) != 0:
        return None
    try:
        return len(sized)
    except Exception:  # A user's own __len__ may raise whatever it likes; the sampler has met that too.
        return None
