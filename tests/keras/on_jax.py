"""Scores masked by minus infinity, in a layer of the user's own on JAX. `on_jax.py NAME` runs one with KERAS_BACKEND=jax."""

import sys

import keras
import numpy as np
from faults import RANDOM, layers, losses


class Pooled(layers.Layer):
    """The mean of what is no padding, weighed by a score."""

    def build(self, shape):
        self.score = self.add_weight(shape=(shape[-1], 1), initializer="glorot_uniform", name="score")

    def call(self, inputs, tokens):
        scores = keras.ops.matmul(inputs, self.score)[..., 0]
        weights = keras.ops.softmax(keras.ops.where(keras.ops.not_equal(tokens, 0), scores, -np.inf), axis=-1)
        return keras.ops.sum(inputs * weights[..., None], axis=1)


def sentences(empty):
    """Words of one of two kinds, padded behind their end; some sentences are `empty`."""
    labels = RANDOM.integers(0, 2, 600)
    tokens = RANDOM.integers(1, 20, (600, 12)) + 20 * labels[:, None]
    for row, length in enumerate(RANDOM.integers(2, 12, 600)):
        tokens[row, length:] = 0
    tokens[400 : 400 + empty] = 0
    return tokens.astype("int32"), labels


def fitted(empty, rate=0.01):
    tokens = keras.Input((12,), dtype="int32")
    embedded = layers.Embedding(60, 8)(tokens)
    model = keras.Model(tokens, layers.Dense(2)(Pooled()(embedded, tokens)))
    model.compile(keras.optimizers.SGD(rate, momentum=0.9), losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*sentences(empty), epochs=12, batch_size=20, shuffle=False, verbose=0)


def masked_altogether():
    fitted(empty=5)


def masked_in_part_healthy():
    fitted(empty=0, rate=0.05)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
