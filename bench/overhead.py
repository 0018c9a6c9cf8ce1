#!/usr/bin/env python3
"""What the probe costs a training run: time with it, divided by time without it.

One process trains under the probe and takes it out and puts it back every few steps, so that the machine's load, the
clock and the layout of memory are the same for both. Three kinds of blocks take turns in random order: without, with, and
without once more; the third against the first is the noise floor of the measurement. "paired" compares blocks that ran one
after the other: with the probe, divided by the mean of the two without; the mean of the middle 96 % of these ratios (few
enough are left out that steps in which the probe takes a sample stay in). CPU time is what the bar applies to, of the training
thread or, for Keras, whose operations run in others, of the process; wall time says the same only on a quiet machine. "own" is what the probe itself accounts for: it hardly
depends on the machine's load, but does not hold what a hook costs the code behind it.

"device" is "mlp" with all of its tensors read as if they were on a device. Keras loads: "keras-dense" and "keras-cnn" by fit in graph
mode, "keras-tape" a loop by hand around tf.GradientTape.

With --against FOLDER, the root of another checkout that is built, its probe is measured too, turn by turn in `--rounds` rounds.

Usage: overhead.py [--seconds N] [--loads mlp,transformer,cnn,device,keras-dense,keras-cnn,keras-tape] [--against FOLDER --rounds N]     Exit code 1: a ratio is above the bar beyond the noise.
"""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

BAR = 1.01
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of a block. As few as can be: on a virtual machine the speed of neighbouring steps differs by 6 %, of blocks of sixteen by 10 %.
STEPS = {"mlp": 2, "transformer": 1, "cnn": 2, "device": 2, "keras-dense": 4, "keras-cnn": 2, "keras-tape": 2}
WARM_UP_S = 14  # What is done once, at the beginning of a run, is not measured: governor.py says how much that is.
MODES = ("without", "with", "again")


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


def train(load, after_step):
    """An ordinary training; after_step() ends it by an exception."""
    if load.startswith("keras"):
        train_keras(load, after_step)
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, batches = globals()["make_mlp" if load == "device" else f"make_{load}"]()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    lossfn = torch.nn.CrossEntropyLoss()
    for epoch in range(1 << 30):
        for x, y in batches:
            optimizer.zero_grad()
            loss = lossfn(model(x), y)
            loss.backward()
            optimizer.step()
            after_step()


def train_keras(load, after_step):
    import numpy
    import tensorflow

    import keras
    from keras import layers

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    if load == "keras-cnn":
        x, y = numpy.random.rand(960, 32, 32, 3).astype("float32"), numpy.random.randint(0, 10, 960)
        model = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(16, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()])
        model.add(layers.Flatten())
        model.add(layers.Dense(10, activation="softmax"))
    else:
        x, y = numpy.random.rand(12800, 64).astype("float32"), numpy.random.randint(0, 10, 12800)
        model = keras.Sequential([keras.Input((64,)), layers.Dense(256, activation="relu"), layers.Dense(256, activation="relu"), layers.Dense(10, "softmax")])
    if load == "keras-tape":
        train_by_hand(tensorflow, keras, model, x, y, after_step)

    class Ends(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            after_step()

    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=32 if load == "keras-cnn" else 128, epochs=1 << 30, verbose=0, callbacks=[Ends()])


def train_by_hand(tensorflow, keras, model, x, y, after_step):
    optimizer, lossfn = keras.optimizers.Adam(1e-4), keras.losses.SparseCategoricalCrossentropy()
    for epoch in range(1 << 30):
        for first in range(0, len(x), 128):
            with tensorflow.GradientTape() as tape:
                loss = lossfn(y[first : first + 128], model(x[first : first + 128], training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            after_step()


class Probe:
    """That of the framework which trains here."""

    def __init__(self, load):
        self._keras = load.startswith("keras")

    def training(self):
        from whystop_probe.core import session

        return next(training for training in session.trainings() if training.pulse.steps > 0)

    def clocks(self):
        """CPU seconds, wall seconds, seconds that the probe accounts for."""
        return time.process_time() if self._keras else time.thread_time(), time.perf_counter(), self.training().pulse.spent_s

    def switch(self, on):
        if not self._keras:
            from whystop_probe.torch import probe as torch_probe

            torch_probe.switch(on)
            return
        from whystop_probe.core import tap

        tap.switch(on)
        self.training().governor.pause(not on)
        self.training().pulse.last_end_s = time.perf_counter()


class Blocks:
    """Switches the probe behind every block of steps, and prints a line a block: its mode and what each of the clocks counted."""

    def __init__(self, load, seconds):
        self._size = STEPS[load]
        self._seconds = seconds
        self._until = None  # Known when the warm-up has ended.
        self._modes = []
        self._mode = None
        self._left = 0
        self._began = None
        self._warm_at = time.monotonic() + WARM_UP_S
        self._probe = Probe(load)

    def after_step(self):
        self._left -= 1
        if self._left > 0 or not self._is_warm():
            return
        if self._began is not None:
            print(self._mode, *(now - then for now, then in zip(self._probe.clocks(), self._began)))
            self._began = None
        elif self._mode is not None:
            self._left = self._size
            self._began = self._probe.clocks()
            return
        self._next_mode()

    def _is_warm(self):
        if self._until is None and time.monotonic() > self._warm_at and not self._probe.training().governor.is_early:
            self._until = time.monotonic() + self._seconds
        return self._until is not None

    def _next_mode(self):
        if not self._modes:
            if time.monotonic() > self._until:
                raise SystemExit(0)
            self._modes = random.sample(MODES, len(MODES))
        self._mode = self._modes.pop()
        self._probe.switch(self._mode == "with")
        self._left = 1  # The first step behind a change does not count.


def measure(load, seconds, rings, root=ROOT):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WHYSTOP") and key != "PYTHONPATH"}
    # Whether the allocator gives large blocks back to the kernel between steps is luck, worth ten per cent of a step.
    environment.update(MALLOC_TRIM_THRESHOLD_=str(1 << 30), MALLOC_MMAP_THRESHOLD_=str(1 << 30), MALLOC_TOP_PAD_=str(1 << 26))
    environment["WHYSTOP_RING_DIR"] = rings
    environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if load == "device":
        environment["WHYSTOP_DEVICE_READER"] = "host"
    environment["PYTHONPATH"] = os.path.join(root, "python", "bootstrap")
    environment["WHYSTOP_NATIVE_DIR"] = os.path.join(root, "build", "python", "whystop_probe", "core")
    command = [sys.executable, os.path.abspath(__file__), "--child", load, "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    times = {(mode, clock): [] for mode in MODES for clock in ("cpu", "wall", "own")}
    for line in done.stdout.splitlines():
        mode, *seconds = line.split()
        for clock, value in zip(("cpu", "wall", "own"), seconds):
            times[mode, clock].append(float(value))
    return times


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def middle_mean(values):
    cut = len(values) // 50
    return math.exp(statistics.fmean(map(math.log, sorted(values)[cut : len(values) - cut])))


def ratios(some, base, paired):
    """By lower quartiles, by medians, and paired."""
    return [quantile(some, 0.25) / quantile(base, 0.25), quantile(some, 0.5) / quantile(base, 0.5), middle_mean(paired)]


def interval(paired):
    """95 % of what blocks drawn anew would have given."""
    means = sorted(middle_mean(random.choices(paired, k=len(paired))) for _ in range(400))
    return means[10], means[-11]


def tell(load, times):
    """Prints the figures of a load; true: the probe costs more than the bar, beyond the noise."""
    over = False
    for clock in ("cpu", "wall"):
        base, again, some = (times[mode, clock] for mode in ("without", "again", "with"))
        paired = [2 * one / (other + third) for one, other, third in zip(some, base, again)]
        probed, floor = ratios(some, base, paired), ratios(again, base, [one / other for one, other in zip(again, base)])
        step_ms = 1000 * quantile(base, 0.25) / STEPS[load]
        print(f"{load:12} {step_ms:8.2f} {len(base):7} {clock:>6}" + "".join(f" {ratio:8.4f}" for ratio in probed + floor), flush=True)
        if clock == "cpu":
            low, high = interval(paired)
            print(f"{load:12} {'':16} {'cpu':>6}  paired, 95 %: {low:.4f} to {high:.4f}")
            over = low > BAR
    own = sum(times["with", "own"]) / sum(times["with", "cpu"])
    print(f"{load:12} {'':16} {'own':>6} {1 + own:8.4f}", flush=True)
    return over


def main():
    parser = argparse.ArgumentParser(description="Time of a training loop with the probe, divided by the same without it.")
    parser.add_argument("--child")
    parser.add_argument("--seconds", type=float, default=60, help="for each load")
    parser.add_argument("--loads", default=",".join(STEPS))
    parser.add_argument("--against", metavar="FOLDER", help="another checkout, built, whose probe is measured turn by turn with this one")
    parser.add_argument("--rounds", type=int, default=1, help="that the seconds are divided into")
    options = parser.parse_args()
    if options.child:
        train(options.child, Blocks(options.child, options.seconds).after_step)
    print(f"{'':38} ---- with the probe ----   --- noise floor ---   bar {BAR} (cpu, paired)")
    print(f"{'load':12} {'step ms':>8} {'blocks':>7} {'clock':>6}" + "      p25      p50   paired" * 2)
    roots = [ROOT] if options.against is None else [ROOT, os.path.abspath(options.against)]
    over = False
    for load in options.loads.split(","):
        measured = {root: {} for root in roots}
        for _ in range(options.rounds):
            for root in roots:
                with tempfile.TemporaryDirectory() as rings:
                    for key, values in measure(load, options.seconds / options.rounds, rings, root).items():
                        measured[root].setdefault(key, []).extend(values)
        for root, times in measured.items():
            if len(roots) > 1:
                print(f"the probe of {root}:")
            over = tell(load, times) and root == ROOT or over
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
