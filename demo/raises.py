"""A loop that learns well until one batch has another shape."""

import random


def batches():
    for number in range(40):
        yield [random.random() for _ in range(8 if number != 25 else 5)]


def train_step(batch, weights):
    error = sum((weights[i] - batch[i]) ** 2 for i in range(len(weights)))
    for i in range(len(weights)):
        weights[i] += 0.05 * (batch[i] - weights[i])
    return error


weights = [3.0] * 8
for step, batch in enumerate(batches(), 1):
    print(f"step {step}/40 loss {train_step(batch, weights):.4f}", flush=True)
