"""Trains a small Keras model in the mode that is named, and prints all that a training could differ by."""

import hashlib
import sys

import numpy as np

import keras
from keras import layers

mode = sys.argv[1]
keras.utils.set_random_seed(3)
if keras.backend.backend() == "tensorflow":
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()
x = np.random.normal(size=(200, 6)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
traces = []


class Counted(layers.Layer):
    def call(self, inputs):
        traces.append(1)
        return inputs * 1.0


model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.BatchNormalization(), layers.Dropout(0.3)])
if mode == "own-layer":
    model.add(Counted())
model.add(layers.Dense(1, activation="sigmoid"))
options = {"eager": {"run_eagerly": True}, "jit": {"jit_compile": True}, "several": {"steps_per_execution": 4}}.get(mode, {})
model.compile("adam", "binary_crossentropy", metrics=["accuracy"], **options)
if mode == "on-batch":
    for first in range(0, 200, 20):
        print(model.train_on_batch(x[first : first + 20], y[first : first + 20]))
else:
    history = model.fit(x, y, epochs=3, batch_size=20, validation_split=0.1, verbose=2 if mode == "graph" else 0)
    print({name: [repr(float(value)) for value in values] for name, values in history.history.items()})
print(len(traces), int(model.optimizer.iterations.numpy() if hasattr(model.optimizer.iterations, "numpy") else 0))
print(hashlib.sha256(b"".join(np.ascontiguousarray(weight).tobytes() for weight in model.get_weights())).hexdigest())
print([layers.Dense(1).name, np.random.random(), keras.random.normal((1,)).shape])
model.save("saved.keras")
