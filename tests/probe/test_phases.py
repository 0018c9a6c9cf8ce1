"""Phases without steps are told: evaluation and saving, each once, and how it goes on afterwards."""

import pytest

TORCH = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
def train(steps):
    model.train()
    for _ in range(steps):
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
model.eval()  # Belongs to the start.
train(3)
torch.save(model.state_dict(), "between.pt")
train(2)
model[0].eval()  # A frozen layer.
train(1)
model.eval()
with torch.no_grad():
    model(torch.randn(8, 4))
train(1)
"""
FAILS = TORCH + """
import io, time
time.sleep(1.1)
model.eval()
try:
    torch.save(lambda: 0, io.BytesIO())
except Exception:
    pass
"""
KERAS = """
import os
os.environ["KERAS_BACKEND"] = "BACKEND"
import keras, numpy
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = numpy.zeros((32, 4)), numpy.zeros((32, 1))
model.fit(*data, validation_data=data, epochs=1, verbose=0)
"""


def phases(got):
    """Each phase with the number of steps made before it."""
    assert got.code == 0, got.err
    steps, found = 0, []
    for record in got.records:
        steps += record["record"] == "step"
        if record["record"] == "phase":
            found.append((record["phase"], steps))
    return found


def test_evaluation_and_saving_are_told_with_their_place(run, script):
    assert phases(run(script(TORCH))) == [("checkpoint", 3), ("train", 3), ("eval", 6)]


def test_a_save_that_fails_goes_back_to_what_was_before(run, script):
    assert phases(run(script(FAILS)))[3:] == [("eval", 7), ("checkpoint", 7), ("eval", 7)]


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_the_validation_of_keras(run, script, backend):
    pytest.importorskip("keras")
    pytest.importorskip(backend)
    assert ("eval", 1) in phases(run(script(KERAS.replace("BACKEND", backend))))
