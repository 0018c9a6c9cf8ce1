"""The data that a `fit` was given: what it is, and rows of it as the training sees them, without taking any from it."""

from collections import Counter

import numpy

_ROWS_MAX = 256  # Of a batch that is looked at.
_ORDERED_MAX = 20000  # Labels whose order is followed.
_CLASSES_MAX = 200
_LABEL_BATCHES_MAX = 200
_TIMES_RARER = 5


class Data:
    """`columns` is (x, y) as nested containers of things that can be sliced; None where the data cannot be looked at."""

    def __init__(self, kind, columns=None, samples=None, batch_size=None, batches=None, shuffle=None, window=None, **more):
        self.kind = kind
        self.columns = columns
        self.samples = samples
        self.batch_size = batch_size
        self.batches = batches
        self.shuffle = shuffle  # True: each epoch in an order of its own.
        self.window = window  # Samples among which the next one is drawn, where that is less than all.
        self.more = more  # Further facts for the "loader" observation.
        self._random = numpy.random.default_rng(0)  # The program's own random numbers stay untouched.

    def rows(self, number):
        """Indices like those of batch `number` of an epoch; None where nothing is known."""
        if self.columns is None or not self.samples:
            return None
        size = min(self.batch_size or 32, self.samples)
        count = min(size, _ROWS_MAX)
        if self.shuffle and not self.window:
            return numpy.sort(self._random.choice(self.samples, count, replace=False))
        first = number * size % max(self.samples - size + 1, 1)
        if not self.shuffle:
            return numpy.arange(first, first + count)
        last = min(first + size + self.window, self.samples)
        return numpy.sort(self._random.choice(numpy.arange(first, last), count, replace=False))

    def batch_sizes(self):
        """(samples of a whole batch, such batches, samples of the last one of a pass); None where not known."""
        if not self.samples or not self.batch_size:
            return None
        return (self.batch_size, *divmod(self.samples, self.batch_size))

    def tell(self, channel, step, take):
        channel.observe(
            "loader",
            step,
            loader=0,
            batches=self.batches,
            batch_size=self.batch_size,
            dataset=self.kind,
            dataset_len=self.samples,
            shuffle=self.shuffle,
            **self.more,
        )
        self._tell_labels(channel, step, take)

    def _tell_labels(self, channel, step, take):
        if self.columns is None or self.columns[1] is None or isinstance(self.columns[1], (list, tuple, dict)):
            return
        count = min(self.samples, _ORDERED_MAX)
        labels = class_numbers(take(self.columns[1], slice(0, count)))
        if labels is None:
            return
        size = self.batch_size or 32
        ordered = labels[self._order(count)]
        batches = [ordered[first : first + size] for first in range(0, count - size + 1, size)][:_LABEL_BATCHES_MAX] or [ordered]
        counts = Counter(labels.tolist())
        channel.observe(
            "labels",
            step,
            loader=0,
            batches=len(batches),
            samples=count,
            classes=len(counts),
            min=min(counts),
            max=max(counts),
            counts=",".join(f"{label}:{number}" for label, number in counts.most_common(40)),
            majority=counts.most_common(1)[0][1] / count,
            distinct_in_batch_mean=sum(len(numpy.unique(batch)) for batch in batches) / len(batches),
        )

    def _order(self, count):
        if not self.shuffle:
            return numpy.arange(count)
        if not self.window or self.window >= count:
            return self._random.permutation(count)
        return numpy.argsort(numpy.arange(count) + self._random.uniform(0, self.window, count), kind="stable")


def tell_split(channel, step, share, data, targets):
    """Keras holds out the last samples as they come, before it shuffles: of sorted data that is another part of the world."""
    if not isinstance(targets, numpy.ndarray) or not data.samples or len(targets) > _ORDERED_MAX:
        return
    labels = class_numbers(targets)
    if labels is None or not data.samples < len(labels):
        return
    trained, held_out = labels[: data.samples], labels[data.samples :]
    unseen = ~numpy.isin(held_out, numpy.unique(trained))
    channel.observe(
        "validation-split",
        step,
        share=float(share),
        samples=len(held_out),
        unseen=float(unseen.mean()),
        scarce=_scarce(trained, held_out),
        classes=len(numpy.unique(held_out)),
    )


def _scarce(trained, held_out):
    """The share of what is held out whose class is so much rarer among the samples that are trained on."""
    share = 0.0
    for label, count in zip(*numpy.unique(held_out, return_counts=True)):
        among_held_out = count / len(held_out)
        if among_held_out >= _TIMES_RARER * (trained == label).mean():
            share += among_held_out
    return float(share)


def class_numbers(labels):
    """Class numbers of targets that are whole numbers, one a sample, or one-hot rows; None of others."""
    if labels.dtype.kind not in "biuf" or not labels.size or labels.ndim > 2:
        return None
    if labels.ndim == 2 and labels.shape[1] > 1:
        one_hot = ((labels == 0) | (labels == 1)).all() and (labels.sum(axis=1) == 1).all()
        return labels.argmax(axis=1) if one_hot else None
    flat = labels.reshape(-1)
    if flat.dtype.kind == "f" and not (numpy.isfinite(flat).all() and (flat == numpy.round(flat)).all()):
        return None
    classes = numpy.unique(flat)
    return flat.astype(numpy.int64) if len(classes) <= min(_CLASSES_MAX, max(2, flat.size // 3)) else None


def of_adapter(adapter, iterator):
    """What is known of the data behind one of Keras's adapters."""
    kind = type(adapter).__name__
    batches = getattr(adapter, "num_batches", None) if kind != "PyDatasetAdapter" else None
    if kind == "ArrayDataAdapter":
        inputs = adapter._inputs
        columns = (inputs[0], inputs[1] if len(inputs) > 1 else None)
        weighted = len(inputs) > 2 and inputs[2] is not None
        return Data("array", columns, adapter._num_samples, adapter._batch_size, adapter._size, bool(adapter._shuffle), sample_weights=weighted)
    if kind == "GeneratorDataAdapter":
        first = adapter._first_batches[0] if adapter._first_batches else ()
        return of_batch("generator", first)
    if kind == "TFDatasetAdapter":
        from whystop_probe.tensorflow.datasets import of_dataset

        return of_dataset(adapter._dataset, Data)
    if kind == "PyDatasetAdapter":
        dataset = adapter.py_dataset
        return Data(type(dataset).__name__, shuffle=bool(getattr(adapter, "shuffle", False)) or None, workers=getattr(dataset, "workers", None))
    return Data(kind, batches=batches)


def of_batch(kind, batch):
    """Data of which one batch has been seen: that batch stands for all."""
    if not isinstance(batch, (list, tuple)) or len(batch) < 2 or not hasattr(batch[1], "shape") or not hasattr(batch[0], "shape"):
        return Data(kind)
    samples = int(batch[0].shape[0])
    found = Data(kind, (batch[0], batch[1]), samples, samples, None, None)
    found.whole = False
    return found


def of_arguments(arguments):
    """The arguments of fit itself: tf-keras keeps no arrays."""
    x, y = arguments.get("x"), arguments.get("y")
    if hasattr(x, "element_spec"):
        from whystop_probe.tensorflow.datasets import of_dataset

        return of_dataset(x, Data)
    if not hasattr(x, "shape") or y is None or not hasattr(y, "shape"):
        return Data(type(x).__name__)
    samples = int(x.shape[0])
    split = arguments.get("validation_split") or 0.0
    if split and arguments.get("validation_data") is None:
        samples = int(samples * (1 - split))
    size = arguments.get("batch_size") or 32
    return Data("array", (x, y), samples, size, -(-samples // size), bool(arguments.get("shuffle")))
