"""Facts about numpy arrays, for frameworks whose tensors can be had as such. Imported only where numpy already is."""

import math

import numpy

from whystop_probe.core import ring

_ELEMENTS_MAX = 1 << 25  # A larger array is not read: that would take longer than a step may be held up.
_CONVERTED_MAX = 1 << 22
_VALUES_MAX = 2048  # Looked at one by one, for distinct values.
_COLUMNS_MAX = 512
_BELOW = (2.0**-24, 2.0**-14, 2.0**-7, 1 - 2.0**-7, 2.0, 65520.0)
_DTYPES = {"float32": ring.DTYPE_F32, "float64": ring.DTYPE_F64, "float16": ring.DTYPE_F16, "bfloat16": ring.DTYPE_BF16}


def stats(array):
    """The 15 numbers of docs/wire.md, STATS; None where the array holds no numbers or too many."""
    kind = _DTYPES.get(array.dtype.name)
    if not 0 < array.size <= _ELEMENTS_MAX:
        return None
    if kind is not None and ring.tensor_stats is not None and array.flags.c_contiguous:
        return ring.tensor_stats([(array.__array_interface__["data"][0], array.size, kind)])[0]
    if array.size > _CONVERTED_MAX or (kind is None and array.dtype.kind not in "biuf"):
        return None
    return _by_numpy(array.astype(numpy.float64).reshape(-1))


def _by_numpy(values):
    finite = values[numpy.isfinite(values)]
    nan = int(numpy.isnan(values).sum())
    sizes = numpy.abs(finite)
    empty = finite.size == 0
    return (
        values.size,
        nan,
        values.size - finite.size - nan,
        int((values == 0).sum()),
        0.0 if empty else float(finite.min()),
        0.0 if empty else float(finite.max()),
        float(finite.sum()),
        float((finite * finite).sum()),
        0.0 if empty else float(sizes.max()),
    ) + tuple(int((sizes < limit).sum()) for limit in _BELOW)


def nonfinite(found):
    """How many of the values were NaN or infinite."""
    return 0 if found is None else found[1] + found[2]


def moments(found):
    """Mean and standard deviation of the finite values."""
    count = found[0] - found[1] - found[2]
    if count <= 0:
        return None, None
    mean = found[6] / count
    return mean, math.sqrt(max(found[7] / count - mean * mean, 0.0))


def ranges(what, array):
    """`what_min`, `what_max`, ... of an array, as the "loss-call" observation has them."""
    found = stats(array)
    if found is None:
        return {}
    mean, std = moments(found)
    return {
        f"{what}_min": found[4],
        f"{what}_max": found[5],
        f"{what}_mean": mean,
        f"{what}_std": std,
        f"{what}_nonfinite": nonfinite(found),
    }


def shape_text(array):
    return "x".join(str(size) for size in array.shape) or "scalar"


def batch_facts(array):
    """Shape, type and range of one array of a batch, as the "batch" observation has them."""
    facts = {"shape": shape_text(array), "dtype": array.dtype.name}
    found = stats(array)
    if found is None:
        return facts
    mean, std = moments(found)
    facts.update(count=found[0], nan=found[1], inf=found[2], zero=found[3], min=found[4], max=found[5], mean=mean, std=std)
    facts["nonfinite"] = nonfinite(found)
    values = array.reshape(-1)[:_VALUES_MAX].tolist()
    facts["looked_at"] = len(values)
    facts["distinct"] = len(set(values))
    facts["integer_valued"] = all(value == value and abs(value) < 1e15 and value == int(value) for value in values)
    if array.ndim == 2 and 1 < array.shape[1] <= _COLUMNS_MAX and array.shape[0] > 1 and array.dtype.kind == "f":
        deviations = array[:_VALUES_MAX].astype(numpy.float64).std(axis=0, ddof=1)
        facts.update(column_std_min=float(deviations.min()), column_std_max=float(deviations.max()), columns=array.shape[1])
    return facts
