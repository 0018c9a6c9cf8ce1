"""Keras programs that learn less than they could, each beside a healthy twin. `learning.py NAME` runs one."""

import sys

import keras
import numpy as np
from faults import RANDOM, clusters, layers, losses, made, taped, trained

LOGITS = losses.SparseCategoricalCrossentropy(from_logits=True)


class Chain(keras.Model):
    """Three layers; `between` stands before the last one."""

    def __init__(self, between=None):
        super().__init__()
        self.first, self.second, self.last = layers.Dense(32, activation="relu"), layers.Dense(16, activation="relu"), layers.Dense(4)
        self.between = between or (lambda values: values)

    def call(self, inputs):
        return self.last(self.between(self.second(self.first(inputs))))


# Graphs that are cut.


def cut_in_call():
    import tensorflow as tf

    model = Chain(lambda values: tf.constant(values.numpy()))
    model.compile("adam", LOGITS, run_eagerly=True)
    model.fit(*clusters(4, spread=0.3), epochs=6, verbose=0)


def cut_in_graph():
    trained(Chain(lambda values: keras.ops.stop_gradient(keras.ops.round(values))), LOGITS, *clusters(4, spread=0.3))


def cut_in_tape():
    x, y = clusters(4, spread=0.3)
    body, head = made(8), made(4, inputs=8)
    taped(lambda rows: LOGITS(y[rows], head(body(x[rows]).numpy())), body.trainable_variables + head.trainable_variables)


def straight_through_healthy():
    rounded = lambda values: values + keras.ops.stop_gradient(keras.ops.round(values) - values)  # noqa: E731
    trained(Chain(rounded), LOGITS, *clusters(4))


def head_without_loss_healthy():
    inputs = keras.Input((10,))
    hidden = layers.Dense(24, activation="relu")(inputs)
    x, y = clusters(4)
    model = keras.Model(inputs, [layers.Dense(4)(hidden), layers.Dense(1)(hidden)])
    model.compile("adam", [LOGITS, None])
    model.fit(x, [y, y], epochs=10, verbose=0)


# Gradients that go elsewhere.


def gradients_of_another_model():
    x, y = clusters(4)
    model, other = made(4), made(4)
    taped(lambda rows: LOGITS(y[rows], model(x[rows])), model.trainable_variables, other.trainable_variables)


def gradients_of_a_copy_healthy():
    """First-order meta-learning: those of a copy are meant."""
    x, y = clusters(4)
    model = made(4)
    copy = keras.models.clone_model(model)

    def loss_of(rows):
        copy.set_weights(model.get_weights())
        return LOGITS(y[rows], copy(x[rows]))

    taped(loss_of, copy.trainable_variables, model.trainable_variables)


# Penalties, norms, steps.


def penalised(strength):
    make = lambda units, activation=None: layers.Dense(units, activation=activation, kernel_regularizer=keras.regularizers.L2(strength))  # noqa: E731
    trained(keras.Sequential([keras.Input((10,)), make(24, "relu"), make(4)]), LOGITS, *clusters(4), epochs=20)


def penalty_outweighs():
    penalised(5.0)


def penalty_healthy():
    penalised(1e-3)


def normed():
    return keras.Sequential([keras.Input((10,)), layers.Dense(24), layers.BatchNormalization(), layers.ReLU(), layers.Dense(4)])


def norm_of_one_sample():
    x, y = clusters(4, 400)
    model = normed()
    model.compile("adam", LOGITS)
    for row in range(400):
        model.train_on_batch(x[row : row + 1], y[row : row + 1])


def norm_of_one_sample_in_fit():
    trained(normed(), LOGITS, *clusters(4, 300), epochs=3, batch_size=1)


def norm_healthy():
    x, y = clusters(4)
    model = normed()
    model.compile("adam", LOGITS)
    for first in list(range(0, 1200, 40)) * 8:
        model.train_on_batch(x[first : first + 40], y[first : first + 40])


def one_step_an_epoch():
    trained(made(4), LOGITS, *clusters(4), epochs=10, batch_size=4096)


def one_step_of_many_an_epoch():
    import tensorflow as tf

    batches = tf.data.Dataset.from_tensor_slices(clusters(4)).shuffle(1200).repeat().batch(32)
    trained(made(4), LOGITS, batches, None, epochs=12, steps_per_epoch=1)


def one_step_an_epoch_healthy():
    trained(made(4), LOGITS, *clusters(4), epochs=90, batch_size=4096, optimizer=keras.optimizers.Adam(0.02))


# Labels.


def rare(share, distance, count=4000):
    labels = (RANDOM.random(count) < share).astype("int64")
    return (RANDOM.normal(size=(count, 10)) + distance * labels[:, None]).astype("float32"), labels


def rare_class_in_a_pipeline():
    import tensorflow as tf

    rows = tf.data.Dataset.from_tensor_slices(rare(0.03, 0.3)).map(lambda x, y: (x * 1.0, tf.cast(y, tf.float32)))
    trained(made(1, "sigmoid"), "binary_crossentropy", rows.shuffle(500).batch(64), None, epochs=6)


def rare_class_healthy():
    trained(made(1, "sigmoid"), "binary_crossentropy", *rare(0.05, 3.0), batch_size=64)


def split(x, y, share):
    trained(made(5, "softmax"), "sparse_categorical_crossentropy", x, y, epochs=12, validation_split=share)


def split_leaves_a_few():
    x, y = clusters(5, 2000, spread=0.7)
    order = np.argsort(y, kind="stable")
    split(x[order], y[order], 0.18)


def split_with_a_rare_class_healthy():
    x, y = clusters(5, 2000)
    kept = (y != 4) | (RANDOM.random(2000) < 0.1)
    split(x[kept], y[kept], 0.2)


def coin_labels():
    x, _ = clusters(2, 2400)
    trained(keras.Sequential([keras.Input((10,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")]), "binary_crossentropy", x, RANDOM.integers(0, 2, 2400), epochs=12)


def weighed_samples_healthy():
    """Its loss is five times that of others: what guessing costs is not known."""
    trained(made(1, "sigmoid"), "binary_crossentropy", *clusters(2, spread=0.6), sample_weight=np.full(1200, 5.0, "float32"))


# Workers.


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 30

    def __getitem__(self, number):
        if number == 20:
            raise KeyError("sample_0815 has no entry in labels.csv")
        return np.ones((40, 10), "float32"), np.ones(40, "int64")


def worker_raises():
    trained(made(4), LOGITS, Rows(workers=2), None, epochs=3)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
