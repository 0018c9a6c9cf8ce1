"""tf.data pipelines: batch, repeat, shuffle and the arrays at their source, as far as they can be seen without drawing from them."""

import sys

from whystop_probe.tensorflow.graphs import origin

_STAGES_MAX = 40
_UNKNOWN, _INFINITE = -2, -1


def of_dataset(dataset, data):
    """Walks from the end of the pipeline to its source. `data` is the class to fill."""
    found = {"batch_size": None, "shuffle": False, "window": None, "repeat": None}
    stages, arrays, clear, labels_pass, batched = [], None, True, True, False
    cardinality = _cardinality(dataset)
    stage = dataset
    for _ in range(_STAGES_MAX):
        kind = type(stage).__name__.strip("_")
        stages.append(kind.replace("Dataset", ""))
        if "Batch" in kind:
            found["batch_size"], batched = _number(getattr(stage, "_batch_size", None)), True
        elif "Shuffle" in kind:
            found["shuffle"] = True
            found["window"] = _number(getattr(stage, "_buffer_size", None))
            if found["window"] and not batched and found["batch_size"] is None:
                found["whole_batches"] = True
        elif "Repeat" in kind:
            found["repeat"] = _number(getattr(stage, "_count", None))
        elif kind == "TensorSliceDataset":
            arrays = stage
            break
        elif kind not in ("PrefetchDataset", "OptionsDataset", "CacheDataset", "ModelDataset", "DatasetV1Adapter"):
            clear = False  # A map or a generator: what comes out is not what went in.
            labels_pass = labels_pass and "Map" in kind and _passes_labels(stage)
        below = getattr(stage, "_input_dataset", None)
        if below is None:
            break
        stage = below
    columns, samples = _columns(arrays) if arrays is not None and (clear or labels_pass) else (None, None)
    if columns is not None and not clear:
        columns = (None, columns[1])
    window = found["window"]
    if window and found.get("whole_batches"):
        window *= found["batch_size"] or 1
    if samples and window and window >= samples:
        window = None
    return data(
        "tf.data",
        columns,
        samples,
        found["batch_size"],
        cardinality if cardinality is not None and cardinality >= 0 else None,
        found["shuffle"],
        window,
        stages=",".join(reversed(stages))[:400],
        repeat=found["repeat"],
        infinite=cardinality == _INFINITE if cardinality is not None else None,
        shuffle_buffer=found["window"],
    )


def _passes_labels(stage):
    """Whether the function of a map gives its second argument back as it was: it shows in its graph."""
    try:
        graph, spec = stage._map_func.function.graph, stage.element_spec
        if not isinstance(spec, tuple) or len(spec) < 2:
            return False
        before = [len(sys.modules["tensorflow"].nest.flatten(part)) for part in (spec[0], stage._input_dataset.element_spec[0])]
        label = graph.outputs[before[0]]
        return origin(label) is graph.inputs[before[1]].op
    except (AttributeError, IndexError, TypeError):
        return False


def _columns(stage):
    tensorflow = sys.modules["tensorflow"]
    tensors = list(stage._tensors)
    structure = tensorflow.nest.pack_sequence_as(stage.element_spec, tensors)
    if not isinstance(structure, tuple) or len(structure) < 2 or not tensors or not hasattr(tensors[0], "numpy"):
        return None, None
    return (structure[0], structure[1]), int(tensors[0].shape[0])


def _cardinality(dataset):
    try:
        return int(dataset.cardinality())
    except Exception:  # Of a distributed dataset, or of none that knows.
        return None


def _number(value):
    try:
        return int(value)
    except (TypeError, ValueError, AttributeError):
        return None
