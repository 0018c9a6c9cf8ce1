"""Small Keras programs, sick and healthy, from what people ask in public. `programs.py NAME` runs one."""

import sys

import numpy as np

import keras
from keras import layers

keras.utils.set_random_seed(7)
RANDOM = np.random.default_rng(7)


def dense(units, activation, inputs=8, hidden="relu"):
    return keras.Sequential([keras.Input((inputs,)), layers.Dense(32, activation=hidden), layers.Dense(units, activation=activation)])


def blobs(count=960, classes=3, inputs=8):
    labels = RANDOM.integers(0, classes, count)
    centres = RANDOM.normal(size=(classes, inputs)) * 2
    return (centres[labels] + RANDOM.normal(size=(count, inputs))).astype("float32"), labels


def healthy():
    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=12, validation_split=0.2, verbose=0)


def healthy_logits():
    x, y = blobs()
    model = dense(3, None)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, epochs=12, verbose=0)


def healthy_finite_dataset():
    import tensorflow as tf

    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960).batch(32), epochs=12, verbose=0)


def early_stopping():
    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, min_delta=0.5)
    model.fit(x, y, epochs=200, validation_split=0.2, callbacks=[stop], verbose=0)


def goal_reached():
    class Enough(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if logs["accuracy"] > 0.6:
                self.model.stop_training = True

    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=100, callbacks=[Enough()], verbose=0)


def lambda_stops():
    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    stop = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: setattr(model, "stop_training", epoch == 3))
    model.fit(x, y, epochs=50, callbacks=[stop], verbose=0)


def callback_raises_and_is_caught():
    class Broken(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            print("score", logs["val_accuracy"])

    x, y = blobs()
    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    try:
        model.fit(x, y, epochs=10, callbacks=[Broken()], verbose=0)
    except Exception as error:
        print("something went wrong:", error)


def terminate_on_nan():
    x, y = blobs()
    x[500, 3] = np.nan
    model = dense(3, "softmax", hidden="tanh")  # On some processors a rectifier makes 0 of NaN.
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y, epochs=20, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0)


def one_shot_generator():
    x, y = blobs()

    def batches():
        for first in range(0, 960, 32):
            yield x[first : first + 32], y[first : first + 32]

    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(batches(), steps_per_epoch=30, epochs=6, verbose=0)


def linear_into_crossentropy():
    x, y = blobs()
    model = dense(3, None)
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y, epochs=8, verbose=0)


def softmax_over_one_unit():
    x, y = blobs(classes=2)
    model = dense(1, "softmax")
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=8, verbose=0)


def accuracy_of_a_regression():
    x = RANDOM.normal(size=(960, 8)).astype("float32")
    y = (x @ RANDOM.normal(size=8)).astype("float32")
    model = dense(1, None)
    model.compile("adam", "mse", metrics=["accuracy"])
    model.fit(x, y, epochs=10, verbose=0)


def rate_too_high():
    x, y = blobs()
    model = dense(3, "softmax")
    model.compile(keras.optimizers.SGD(200.0), "sparse_categorical_crossentropy")
    model.fit(x, y, epochs=8, verbose=0)


def sorted_without_shuffle():
    x, y = blobs(classes=4)
    order = np.argsort(y, kind="stable")
    model = dense(4, "softmax")
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    model.fit(x[order], y[order], epochs=10, shuffle=False, verbose=0)


def error_in_generator():
    x, y = blobs()

    def batches():
        for first in range(0, 960, 32):
            if first > 600:
                raise KeyError("sample 608 has no label")
            yield x[first : first + 32], y[first : first + 32]

    model = dense(3, "softmax")
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(batches(), epochs=3, verbose=0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
