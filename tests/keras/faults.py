"""Faults that are particular to Keras, each beside its healthy twin. `faults.py NAME` runs one."""

import os
import sys

import numpy as np

if sys.argv[1].startswith("legacy_"):
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow as tf

    keras = tf.keras
else:
    import keras

layers, losses = keras.layers, keras.losses
keras.utils.set_random_seed(11)
RANDOM = np.random.default_rng(11)


def made(units, activation=None, inputs=10):
    return keras.Sequential([layers.Input((inputs,)), layers.Dense(24, activation="relu"), layers.Dense(units, activation=activation)])


def clusters(classes=2, count=1200, inputs=10, spread=1.5):
    labels = RANDOM.integers(0, classes, count)
    centres = RANDOM.normal(size=(classes, inputs)) * spread
    return (centres[labels] + RANDOM.normal(size=(count, inputs))).astype("float32"), labels


def trained(model, loss, x, y, epochs=10, optimizer="adam", metrics=("accuracy",), **more):
    model.compile(optimizer, loss, metrics=list(metrics))
    return model.fit(x, y, epochs=epochs, verbose=0, **more)


def taped(loss_of, variables, receivers=None, epochs=6, size=40, count=1200):
    """A loop by hand: loss_of(rows), its gradients by the variables, and the step of those that receive them."""
    import tensorflow as tf

    optimizer = keras.optimizers.Adam(0.01)
    for epoch in range(epochs):
        for first in range(0, count, size):
            with tf.GradientTape() as tape:
                loss = loss_of(slice(first, first + size))
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables if receivers is None else receivers))


# Losses and the activations before them.


def binary_without_sigmoid():
    trained(made(1), "binary_crossentropy", *clusters())


def binary_with_sigmoid_healthy():
    trained(made(1, "sigmoid"), "binary_crossentropy", *clusters())


def logits_told_of_probabilities():
    """A Reshape behind the softmax: Keras cannot look behind it, and takes another softmax."""
    x, y = clusters(6, spread=0.7)
    model = keras.Sequential([layers.Input((10,)), layers.Dense(24, activation="relu"), layers.Dense(6, activation="softmax"), layers.Reshape((6,))])
    trained(model, losses.SparseCategoricalCrossentropy(from_logits=True), x, y, epochs=12)


def softmax_and_logits_healthy():
    """Keras takes what stands before the softmax, and says so."""
    x, y = clusters(6)
    trained(made(6, "softmax"), losses.SparseCategoricalCrossentropy(from_logits=True), x, y)


def sparse_loss_of_one_hot():
    x, y = clusters(4)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", x, np.eye(4, dtype="float32")[y])


def categorical_loss_of_numbers():
    x, y = clusters(4)
    trained(made(4, "softmax"), "categorical_crossentropy", x, y)


def categorical_healthy():
    x, y = clusters(4)
    trained(made(4, "softmax"), "categorical_crossentropy", x, np.eye(4, dtype="float32")[y])


def softmax_over_one():
    trained(made(1, "softmax"), "binary_crossentropy", *clusters())


def softmax_over_one_categorical():
    trained(made(1, "softmax"), "categorical_crossentropy", *clusters())


def sigmoid_against_class_numbers():
    trained(made(1, "sigmoid"), "mse", *clusters(6))


def sigmoid_with_mse_healthy():
    trained(made(1, "sigmoid"), "mse", *clusters())


def hinge_of_a_sigmoid_healthy():
    """It never gets below zero, but tells 0 from 1 all the same."""
    trained(made(1, "sigmoid"), "hinge", *clusters())


def hinge_of_zero_and_one_healthy():
    """Keras makes -1 and 1 of them itself."""
    trained(made(1, "tanh"), "hinge", *clusters())


def hinge(targets, outputs):
    return keras.ops.mean(keras.ops.maximum(1.0 - targets * outputs, 0.0), axis=-1)


def hinge_by_hand():
    x, y = clusters()
    trained(made(1), hinge, x, y.astype("float32")[:, None])


def hinge_by_hand_healthy():
    x, y = clusters()
    trained(made(1), hinge, x, (2.0 * y - 1).astype("float32")[:, None], metrics=())


def targets_no_distribution():
    x, _ = clusters(8)
    marks = (RANDOM.random((1200, 8)) < 0.4).astype("float32")
    trained(made(8, "softmax"), "categorical_crossentropy", x, marks)


def soft_targets_healthy():
    x, y = clusters(4)
    trained(made(4, "softmax"), "categorical_crossentropy", x, (0.9 * np.eye(4) + 0.025)[y].astype("float32"))


def several_marks_healthy():
    x = RANDOM.normal(size=(1200, 10)).astype("float32")
    marks = (x @ RANDOM.normal(size=(10, 5)) > 0).astype("float32")
    trained(made(5, "sigmoid"), "binary_crossentropy", x, marks)


# What trains, and what was loaded.


def thawed_without_compiling():
    x, y = clusters(4)
    base = keras.Sequential([layers.Input((10,)), layers.Dense(32, activation="relu"), layers.Dense(32, activation="relu")])
    base.trainable = False
    model = keras.Sequential([layers.Input((10,)), base, layers.Dense(4, activation="softmax")])
    trained(model, "sparse_categorical_crossentropy", x, y, epochs=3)
    base.trainable = True
    model.fit(x, y, epochs=10, verbose=0)


def thawed_and_compiled_healthy():
    x, y = clusters(4)
    base = keras.Sequential([layers.Input((10,)), layers.Dense(32, activation="relu"), layers.Dense(32, activation="relu")])
    base.trainable = False
    model = keras.Sequential([layers.Input((10,)), base, layers.Dense(4, activation="softmax")])
    trained(model, "sparse_categorical_crossentropy", x, y, epochs=3)
    base.trainable = True
    trained(model, "sparse_categorical_crossentropy", x, y)


def everything_frozen():
    x, y = clusters(4)
    model = made(4, "softmax")
    for layer in model.layers:
        layer.trainable = False
    trained(model, "sparse_categorical_crossentropy", x, y, epochs=6)


def weights_skipped():
    """Other sizes than were saved: each is skipped, and the model begins with what it was made with."""
    x, y = clusters(4)
    first = made(4, "softmax")
    trained(first, "sparse_categorical_crossentropy", x, y, epochs=5)
    first.save_weights("first.weights.h5")
    second = keras.Sequential([layers.Input((10,)), layers.Dense(48, activation="relu"), layers.Dense(5, activation="softmax")])
    second.load_weights("first.weights.h5", skip_mismatch=True)
    trained(second, "sparse_categorical_crossentropy", x, y, epochs=2)


def weights_loaded_healthy():
    x, y = clusters(4)
    first, second = made(4, "softmax"), made(4, "softmax")
    trained(first, "sparse_categorical_crossentropy", x, y, epochs=5)
    first.save_weights("first.weights.h5")
    second.load_weights("first.weights.h5", skip_mismatch=True)
    trained(second, "sparse_categorical_crossentropy", x, y, epochs=4)


# Plans, metrics, weights of classes, splits.


def too_few_steps():
    x, y = clusters(4, count=4800, spread=0.6)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", x, y, epochs=6, steps_per_epoch=2, batch_size=16)


def regression_with_accuracy():
    x = RANDOM.normal(size=(1200, 10)).astype("float32")
    trained(made(1), "mse", x, (x @ RANDOM.normal(size=10)).astype("float32"), epochs=12)


def regression_healthy():
    x = RANDOM.normal(size=(1200, 10)).astype("float32")
    trained(made(1), "mse", x, (x @ RANDOM.normal(size=10)).astype("float32"), epochs=12, metrics=("mae",))


def class_weights_of_nothing():
    x, y = clusters()
    trained(made(1, "sigmoid"), "binary_crossentropy", x, y, class_weight={0: 0.0, 1: 0.0})


def class_weights_leave_one_out():
    x, y = clusters()
    trained(made(1, "sigmoid"), "binary_crossentropy", x, y, class_weight={0: 0.0, 1: 1.0}, validation_split=0.2)


def class_weights_swapped():
    """Meant to raise the rare class; the keys are the wrong way round."""
    x, y = clusters(spread=0.5, count=4000)
    keep = (y == 0) | (RANDOM.random(len(y)) < 0.08)
    trained(made(1, "sigmoid"), "binary_crossentropy", x[keep], y[keep], class_weight={0: 12.0, 1: 0.5}, epochs=8)


def class_weights_healthy():
    x, y = clusters(count=4000)
    keep = (y == 0) | (RANDOM.random(len(y)) < 0.1)
    trained(made(1, "sigmoid"), "binary_crossentropy", x[keep], y[keep], class_weight={0: 0.55, 1: 5.0}, epochs=8)


def split_of_sorted():
    x, y = clusters(5)
    order = np.argsort(y, kind="stable")
    trained(made(5, "softmax"), "sparse_categorical_crossentropy", x[order], y[order], epochs=15, validation_split=0.2)


def split_of_mixed_healthy():
    trained(made(5, "softmax"), "sparse_categorical_crossentropy", *clusters(5), epochs=15, validation_split=0.2)


# Who stopped it.


def rate_at_its_floor():
    """The rate is lowered at every epoch that is not a hundredth better, down to nothing."""
    x, y = clusters(4, spread=0.6)
    lower = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.01, patience=1, min_delta=0.5, min_lr=1e-9)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", x, y, epochs=30, optimizer=keras.optimizers.SGD(0.02), callbacks=[lower])


def terminated_by_rate():
    x = RANDOM.normal(size=(1200, 10)).astype("float32")
    stop = keras.callbacks.TerminateOnNaN()
    trained(made(1), "mse", x, x.sum(axis=1), epochs=20, optimizer=keras.optimizers.SGD(50.0), metrics=(), callbacks=[stop])


def own_callback_stops():
    class Patience(keras.callbacks.Callback):
        best, bad = 1e9, 0

        def on_epoch_end(self, epoch, logs=None):
            self.bad = 0 if logs["val_loss"] < self.best - 0.2 else self.bad + 1
            self.best = min(self.best, logs["val_loss"])
            if self.bad >= 3:
                self.model.stop_training = True

    trained(made(4, "softmax"), "sparse_categorical_crossentropy", *clusters(4), epochs=90, validation_split=0.2, callbacks=[Patience()])


def callback_raises():
    class Broken(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 2:
                print(logs["f1"])

    trained(made(4, "softmax"), "sparse_categorical_crossentropy", *clusters(4), callbacks=[Broken()])


def dataset_ran_out():
    import tensorflow as tf

    x, y = clusters(4)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(40)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", data, None, epochs=8, steps_per_epoch=60)


def legacy_dataset_ran_out():
    x, y = clusters(4)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(40)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", data, None, epochs=8, steps_per_epoch=20)


def legacy_healthy():
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", *clusters(4))


def legacy_early_stopping():
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, min_delta=0.5)
    trained(made(4, "softmax"), "sparse_categorical_crossentropy", *clusters(4), epochs=60, validation_split=0.2, callbacks=[stop])


def legacy_tape():
    tape_healthy()


def memory_refused_and_caught():
    import tensorflow as tf

    class Big(layers.Layer):
        def call(self, inputs):
            return inputs + 0.0 * tf.reduce_sum(tf.random.normal((10**6, 10**6)))

    x, y = clusters(4)
    model = keras.Sequential([layers.Input((10,)), Big(), layers.Dense(4, activation="softmax")])
    try:
        trained(model, "sparse_categorical_crossentropy", x, y)
    except tf.errors.ResourceExhaustedError:
        sys.exit(3)


# The data's own faults.


def pipeline_raises():
    import tensorflow as tf

    x, y = clusters(4)

    def parsed(row):
        number = int(row)
        if number == 700:
            raise ValueError(f"row {number} cannot be parsed")
        return x[number], np.int64(y[number])

    def read(row):
        image, label = tf.numpy_function(parsed, [row], (tf.float32, tf.int64))
        return tf.ensure_shape(image, (10,)), tf.ensure_shape(label, ())

    trained(made(4, "softmax"), "sparse_categorical_crossentropy", tf.data.Dataset.range(1200).map(read).batch(40), None, epochs=3)


def pydataset_raises():
    x, y = clusters(4)

    class Rows(keras.utils.PyDataset):
        def __len__(self):
            return 30

        def __getitem__(self, number):
            if number == 20:
                raise OSError("cannot identify image file 'cat_0815.jpg'")
            return x[40 * number : 40 * number + 40], y[40 * number : 40 * number + 40]

    trained(made(4, "softmax"), "sparse_categorical_crossentropy", Rows(), None, epochs=3)


def tape_healthy():
    x, y = clusters(4)
    model, loss_of = made(4), losses.SparseCategoricalCrossentropy(from_logits=True)
    taped(lambda rows: loss_of(y[rows], model(x[rows], training=True)), model.trainable_variables)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
