#!/usr/bin/env python3
"""What the probe costs a training run: CPU time with it, divided by CPU time without it.

Two processes run the same loop, one under the probe and one bare, and take turns in blocks of steps, so that whatever else the
machine does hits both. The figure is the ratio of the lower quartiles of the blocks' CPU times.

Usage: overhead.py [--blocks N] [--loads mlp,transformer,cnn]     Exit code 1: a ratio is above the bar.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

BAR = 1.01
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STEPS = {"mlp": 200, "transformer": 2, "cnn": 24}


def make_mlp():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    return model, [(torch.randn(128, 64), torch.randint(0, 10, (128,)))]


def make_transformer():
    import torch

    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Embedding(512, 256), torch.nn.TransformerEncoder(layer, 4), torch.nn.Flatten(0, 1), torch.nn.Linear(256, 512))
    return model, [(torch.randint(0, 512, (4, 64)), torch.randint(0, 512, (256,)))]


def make_cnn():
    import torch

    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16 * 225, 10)
    )
    data = torch.utils.data.TensorDataset(torch.randn(24 * 32, 3, 32, 32), torch.randint(0, 10, (24 * 32,)))
    return model, torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)


def child(load):
    """Runs blocks of steps on request: a line in, the block's CPU seconds out."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, batches = globals()[f"make_{load}"]()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    lossfn = torch.nn.CrossEntropyLoss()

    def steps():
        while True:
            for x, y in batches:
                optimizer.zero_grad()
                loss = lossfn(model(x), y)
                loss.backward()
                optimizer.step()
                yield

    run = steps()
    for _ in sys.stdin:
        start = time.thread_time()
        for _ in range(STEPS[load]):
            next(run)
        print(time.thread_time() - start, flush=True)


def start(load, rings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WHYSTOP") and key != "PYTHONPATH"}
    # Whether the allocator gives large blocks back to the kernel between steps depends on what lies at the top of its heap:
    # luck, worth more than ten per cent of a small CNN's step. Both processes keep theirs.
    environment.update(MALLOC_TRIM_THRESHOLD_=str(1 << 30), MALLOC_MMAP_THRESHOLD_=str(1 << 30), MALLOC_TOP_PAD_=str(1 << 26))
    if rings is not None:
        environment["WHYSTOP_RING_DIR"] = rings
        environment["PYTHONPATH"] = os.path.join(ROOT, "python", "bootstrap")
        environment["WHYSTOP_NATIVE_DIR"] = os.path.join(ROOT, "build", "python", "whystop")
    command = [sys.executable, os.path.abspath(__file__), "--child", load]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def block(process):
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def measure(load, blocks, rings):
    bare, probed = start(load, None), start(load, rings)
    times = ([], [])
    for number in range(blocks + 2):
        pair = [block(bare), block(probed)] if number % 2 else [block(probed), block(bare)][::-1]
        if number >= 2:  # The first blocks warm up.
            times[0].append(pair[0])
            times[1].append(pair[1])
    for process in (bare, probed):
        process.stdin.close()
        process.wait()
    quartiles = [sorted(values)[len(values) // 4] for values in times]
    medians = [sorted(values)[len(values) // 2] for values in times]
    step_ms = 1000 * quartiles[0] / STEPS[load]
    return quartiles[1] / quartiles[0], medians[1] / medians[0], step_ms


def main():
    parser = argparse.ArgumentParser(description="CPU time of a training loop with the probe, divided by the same without it.")
    parser.add_argument("--child")
    parser.add_argument("--blocks", type=int, default=60)
    parser.add_argument("--loads", default="mlp,transformer,cnn")
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return 0
    over = False
    print(f"{'load':12} {'step ms':>8} {'ratio p25':>10} {'ratio p50':>10}   bar {BAR}")
    for load in options.loads.split(","):
        with tempfile.TemporaryDirectory() as rings:
            quartile, median, step_ms = measure(load, options.blocks, rings)
        over = over or quartile > BAR
        print(f"{load:12} {step_ms:8.2f} {quartile:10.4f} {median:10.4f}", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
