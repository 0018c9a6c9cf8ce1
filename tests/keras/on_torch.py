"""Custom steps of Keras on PyTorch: gradients that are never cleared, and healthy twins. `on_torch.py NAME` runs one with KERAS_BACKEND=torch."""

import sys

import keras
from faults import clusters, layers, losses


class Own(keras.Model):
    """A step by hand; clear(model) stands before the backward pass."""

    def __init__(self, clear, backwards=1):
        super().__init__()
        self.first, self.last = layers.Dense(24, activation="relu"), layers.Dense(4)
        self.clear, self.backwards = clear, backwards

    def call(self, inputs):
        return self.last(self.first(inputs))

    def train_step(self, data):
        import torch

        x, y = data
        self.clear(self)
        for _ in range(self.backwards):
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            loss.backward()
        variables = self.trainable_variables
        with torch.no_grad():
            self.optimizer.apply([variable.value.grad for variable in variables], variables)
        return {"loss": loss.detach()}


def zero_by_hand(model):
    for variable in model.trainable_variables:
        if variable.value.grad is not None:
            variable.value.grad.zero_()


def fitted(clear, backwards=1):
    model = Own(clear, backwards)
    model.compile(keras.optimizers.SGD(0.3), losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*clusters(4, spread=0.8), epochs=8, verbose=0)


def never_cleared():
    fitted(lambda model: None)


def cleared_healthy():
    fitted(lambda model: model.zero_grad())


def cleared_by_hand_healthy():
    fitted(zero_by_hand, backwards=2)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
