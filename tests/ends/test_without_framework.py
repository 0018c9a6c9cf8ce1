"""Programs that train with nothing but arrays: how their loop was left is read off their variables, at their end."""

import pytest

HEAD = "import numpy as np\nvalues = [1.0, 0.6, 0.5, 0.45] + [0.44] * 30\n"
PRINT = '    print(f"epoch {epoch + 1}/30 loss {values[epoch]:.4f}", flush=True)\n'
NEVER_SET_BACK = """best, waited = 9.0, 0
for epoch in range(30):
""" + PRINT + """    if values[epoch] < best - 0.001:
        best = values[epoch]
    else:
        waited += 1
    if waited == 3:
        break
"""
OBJECT = """class Tracker:
    def __init__(self):
        self.low, self.bad = 9.0, 0
    def __call__(self, value):
        if value < self.low - 0.001:
            self.low, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad < 2
more, going, epoch = Tracker(), True, 0
while going and epoch < 30:
""" + PRINT + """    going = more(values[epoch])
    epoch += 1
"""
SEARCH = """for place in range(30):
    if values[place] < 0.7:
        break
for epoch in range(30):
""" + PRINT


@pytest.mark.parametrize("rule", (NEVER_SET_BACK, OBJECT))
def test_patience_by_hand_is_named(ending, rule):
    got = ending(HEAD + rule, base=False)
    assert (got.outcome, got.roots) == ("stopped-early", ["early-stop-patience"])


def test_a_search_that_found_something_ended_no_training(ending):
    got = ending(HEAD + SEARCH, base=False)
    assert (got.outcome, got.blamed) == ("completed", [])
