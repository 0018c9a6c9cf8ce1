"""Tensor statistics: against a plain read of the memory (build/stats_bench), and against the same facts by torch's own
operations, turn by turn in CPU time on one thread. Fails below 0.8 of the read, or below 20 times torch.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
BAR_TIMES_TORCH = 20
VALUES = 16 << 20


def facts_by_torch(tensor):
    """What ring.tensor_stats returns, by torch's quickest operations for a tensor that is all finite."""
    import torch

    nans, infs = int(torch.isnan(tensor).sum()), int(torch.isinf(tensor).sum())
    kept = tensor if nans + infs == 0 else tensor[torch.isfinite(tensor)]
    magnitude = kept.abs()
    low, high = torch.aminmax(kept)
    thresholds = (2.0**-24, 2.0**-14, 2.0**-7, 1 - 2.0**-7, 2.0, 65520.0)
    return (
        tensor.numel(),
        nans,
        infs,
        kept.numel() - int(torch.count_nonzero(kept)),
        float(low),
        float(high),
        float(kept.sum(dtype=torch.float64)),
        float(torch.linalg.vector_norm(kept, dtype=torch.float64)) ** 2,
        float(magnitude.max()),
        *(int(torch.count_nonzero(magnitude < threshold)) for threshold in thresholds),
    )


def times_torch() -> float:
    """How many times faster than torch, after checking that both say the same."""
    sys.path.insert(0, str(BUILD / "python"))
    import torch

    from whystop_probe.core import ring

    torch.set_num_threads(1)
    tensor = torch.randn(VALUES) * 0.02
    view = [(tensor.data_ptr(), tensor.numel(), ring.DTYPE_F32)]
    ours, theirs = ring.tensor_stats(view)[0], facts_by_torch(tensor)
    sums = (6, 7)
    assert all(a == b for i, (a, b) in enumerate(zip(ours, theirs)) if i not in sums), (ours, theirs)
    assert all(abs(ours[i] - theirs[i]) <= 1e-5 * max(1.0, abs(theirs[i])) for i in sums), (ours, theirs)
    ratios = []
    for _ in range(5):
        begin = time.process_time()
        facts_by_torch(tensor)
        middle = time.process_time()
        for _ in range(10):
            ring.tensor_stats(view)
        ratios.append((middle - begin) / ((time.process_time() - middle) / 10))
    return statistics.median(ratios)


def main() -> int:
    os.environ.pop("WHYSTOP_NO_NATIVE", None)
    failed = subprocess.run([BUILD / "stats_bench"], check=False).returncode != 0
    try:
        ratio = times_torch()
    except ImportError as missing:
        print(f"no comparison with torch: {missing}")
        return int(failed)
    print(f"the same facts by torch operations on one thread take {ratio:.0f} times as long (bar: {BAR_TIMES_TORCH})")
    return int(failed or ratio < BAR_TIMES_TORCH)


if __name__ == "__main__":
    sys.exit(main())
