"""Keras under the probe: results, output and errors as ever; every step and loss on record; nothing told that is not so."""

import importlib.util
import os
import re
import signal

import pytest

from conftest import PYTHON_FOLDER, SCRIPTS

pytestmark = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
TENSORFLOW = ["graph", "eager", "jit", "several", "own-layer", "on-batch"]
MODES = [("tensorflow", mode) for mode in TENSORFLOW] + [("torch", "graph"), ("jax", "graph")]
EVERYTHING = os.environ.get("WHYSTOP_ALL") == "1"
SCRIPT = os.path.join(SCRIPTS, "keras_identical.py")


def plain(text):
    """Without the times that Keras prints."""
    return re.sub(r"\d+[mu]?s(/step|/epoch)?", "_", text)


@pytest.mark.parametrize("backend,mode", MODES if EVERYTHING else [("tensorflow", "graph"), ("tensorflow", "eager")])
def test_results_are_bit_identical(run, backend, mode):
    """Goal: weights, history, names, random numbers, traces, output and errors are those of a bare run, in every mode."""
    environment = {**QUIET, "KERAS_BACKEND": backend}
    bare = run(SCRIPT, mode, probe=False, environment=environment, timeout=600)
    got = run(SCRIPT, mode, environment=environment, timeout=600)
    assert bare.code == 0, bare.err
    assert (got.code, plain(got.out)) == (bare.code, plain(bare.out))
    assert [line for line in got.err.splitlines() if "Warning" in line] == [line for line in bare.err.splitlines() if "Warning" in line]
    assert not got.observations("probe-failure")
    made = [item["step"] for item in got.of("step")]
    assert made[-1] == (10 if mode == "on-batch" else 27)


def test_the_loss_of_a_batch_is_its_own(run, script):
    """Goal: Keras logs a running mean; what is recorded is each batch's own loss, of a shorter last batch too.
    Method: a model that cannot learn (rate 0), whose losses can be computed beforehand."""
    path = script("""
import numpy as np, keras
keras.utils.set_random_seed(1)
x = np.arange(50, dtype="float32").reshape(-1, 1)
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile(keras.optimizers.SGD(0.0), "mse")
model.fit(x, x, batch_size=20, epochs=2, shuffle=False, verbose=0)
for first in (0, 20, 40, 0, 20, 40):
    print(float((x[first:first + 20] ** 2).mean()))
""")
    got = run(path, environment=QUIET, timeout=600)
    wanted = [float(line) for line in got.out.split()]
    assert got.losses() == pytest.approx(wanted, rel=1e-4)


OWN_STEP = """
import sys
import numpy as np, keras, tensorflow as tf
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.out, self.mean = keras.layers.Dense(1, kernel_initializer="zeros"), keras.metrics.Mean(name="error") if sys.argv[1] == "mean" else None
    def call(self, inputs):
        return self.out(inputs)
    def train_step(self, data):
        x, y = data[:2]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((y - self(x, training=True)) ** 2)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        if self.mean is None:
            return {"loss": loss}
        self.mean.update_state(loss)
        return {"loss": self.mean.result()}
x = np.arange(60, dtype="float32").reshape(-1, 1)
model = Own()
model(x[:1])
model.compile(keras.optimizers.SGD(0.0))
if sys.argv[2] == "fit":
    model.fit(x, x, batch_size=20, epochs=2, shuffle=False, verbose=0)
for first in (0, 20, 40, 0, 20, 40):
    if sys.argv[2] == "on-batch":
        model.train_on_batch(x[first:first + 20], x[first:first + 20])
    print(float((x[first:first + 20] ** 2).mean()))
"""


@pytest.mark.parametrize("how", ["fit", "on-batch"])
@pytest.mark.parametrize("logged", ["batch", "mean"])
def test_the_loss_of_a_batch_in_a_step_of_the_users_own(run, script, logged, how):
    """Goal: who returns the loss of the batch itself from train_step has logged no mean, and no difference is taken."""
    got = run(script(OWN_STEP), logged, how, environment=QUIET, timeout=600)
    assert got.code == 0, got.err
    assert got.losses() == pytest.approx([float(line) for line in got.out.split()], rel=1e-4)
    assert not got.observations("probe-failure")


@pytest.mark.skipif(not EVERYTHING, reason="one of the matrix")
def test_a_fault_in_every_hook_changes_nothing(run, tmp_path):
    """Goal: whatever fails inside a hook, the program does not notice."""
    from test_no_harm import FAULTY

    folder = tmp_path / "faulty"
    folder.mkdir()
    bootstrap = os.path.join(PYTHON_FOLDER, "bootstrap", "sitecustomize.py")
    text = FAULTY.format(folder=PYTHON_FOLDER, bootstrap=bootstrap).replace('spared = (', 'spared = ("_after_keras", "Observers._tell_end", "Fits.before", ')
    (folder / "sitecustomize.py").write_text(text)
    bare = run(SCRIPT, "graph", probe=False, environment=QUIET, timeout=600)
    got = run(SCRIPT, "graph", first_on_path=str(folder), environment=QUIET, timeout=600)
    assert (got.code, plain(got.out)) == (bare.code, plain(bare.out))
    assert any("ZeroDivisionError" in item["what"] for item in got.observations("probe-failure"))


def test_a_kill_loses_no_step(run, script):
    """Goal: SIGKILL out of a callback at the end of batch 7: seven steps are on record, with their losses."""
    path = script("""
import os, signal, numpy as np, keras
class Kill(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 6:
            os.kill(os.getpid(), signal.SIGKILL)
x = np.ones((200, 4), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x[:, 0], batch_size=10, callbacks=[Kill()], verbose=0)
""")
    got = run(path, environment=QUIET, timeout=600)
    assert got.code == -signal.SIGKILL
    assert [item["step"] for item in got.of("step")] == [1, 2, 3, 4, 5, 6, 7]
    assert all(loss is not None for loss in got.losses())


@pytest.mark.parametrize("how", ["eager", "function", "jit"] if EVERYTHING else ["function"])
def test_a_loop_by_hand(run, script, how):
    """Goal: steps around tf.GradientTape are counted with their losses, as they are and inside a tf.function."""
    path = script(f"""
import numpy as np, tensorflow as tf
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer, loss_of = tf.keras.optimizers.SGD(0.01), tf.keras.losses.MeanSquaredError()
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
step = {{"eager": step, "function": tf.function(step), "jit": tf.function(step, jit_compile=True)}}[{how!r}]
x = tf.constant(np.random.normal(size=(16, 4)).astype("float32"))
for turn in range(12):
    print(float(step(x, x[:, :1])))
""")
    got = run(path, environment=QUIET, timeout=600)
    assert got.code == 0, got.err
    assert got.losses() == pytest.approx([float(line) for line in got.out.split()], rel=1e-5)
    assert got.observations("loop-plan")[0]["planned"] == 12
    assert got.one("model")["parameters"] == 5
    assert not got.observations("probe-failure")


def test_the_older_keras(run, script):
    """Goal: tf-keras 2: plan, steps, and the callback that stopped it with its line and condition."""
    path = script("""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np, tensorflow as tf
class Stop(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            self.model.stop_training = True
x = np.ones((60, 4), "float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x[:, 0], batch_size=10, epochs=9, callbacks=[Stop()], verbose=0)
""")
    got = run(path, environment=QUIET, timeout=600)
    assert got.code == 0, got.err
    assert len(got.of("step")) == 12
    stop = got.one("framework-stop")
    assert (stop["who"], stop["line"], stop["condition"]) == ("Stop", 8, "epoch == 1")
    assert (got.one("framework")["epochs"], got.one("framework")["batches"]) == (9, 6)
    assert not got.observations("probe-failure")


def test_what_the_plan_and_the_graph_tell(run, script):
    """Goal: faults that stand in the graph of a step, in the split of the data or in a call that always fails are told; a second
    model is a training of its own."""
    path = script("""
import numpy as np, keras, tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.rand(60, 4).astype("float32")
y = np.repeat(np.arange(5), 12)
def made(units, activation=None):
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(units, activation=activation)])
for _ in range(2):
    model = made(5, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y, validation_split=0.2, epochs=2, batch_size=12, verbose=0)
for _ in range(3):
    try:
        model.train_on_batch(x, np.ones((60, 3)))
    except Exception:
        pass
net, optimizer = made(1), keras.optimizers.SGD(0.1)
@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(targets - net(inputs, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
sorter, other = made(5), keras.optimizers.SGD(0.1)
@tf.function
def sort(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, tf.nn.softmax(sorter(inputs, training=True))))
    other.apply_gradients(zip(tape.gradient(loss, sorter.trainable_variables), sorter.trainable_variables))
    return loss
for _ in range(3):
    step(tf.constant(x), tf.constant(y.astype("float32")))
    sort(tf.constant(x), tf.constant(y))
""")
    got = run(path, environment=QUIET, timeout=600)
    assert got.code == 0, got.err
    assert [item["number"] for item in got.observations("training")] == [2]
    assert [item["unseen"] for item in got.observations("validation-split")] == [1, 1]
    assert {item["outputs"] for item in got.observations("framework")} == {5}
    failed = got.observations("framework-failed")
    assert [item["call"] for item in failed] == ["train_on_batch"] * len(failed) and failed
    assert got.observations("broadcast-difference")
    assert [item["classes"] for item in got.observations("loss-call") if item.get("sums_to_one")][:1] == [5]
