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


HIDDEN = """for epoch in range(30):
    try:
        if epoch == 5:
            raise IndexError("out of bounds")
        print("epoch", epoch, "loss %.4f" % values[epoch], flush=True)
    except Exception:
        break
"""


def test_a_handler_that_leaves_the_loop_is_named_without_a_printed_plan(ending):
    got = ending(HEAD + HIDDEN, base=False)
    assert (got.outcome, got.roots) == ("stopped-early", ["swallowed-exception"])


LAUNCHER = """import subprocess, sys
TRAIN = "import time\\nfor it in range(1, 2001):\\n    time.sleep(0.05)\\n    print(f'it {it}/2000 loss {1 / it:.4f}', flush=True)"
try:
    subprocess.run([sys.executable, "-c", TRAIN], timeout=4)
except subprocess.TimeoutExpired:
    print("train -> -1", flush=True)
    sys.exit(STATUS)
"""


@pytest.mark.parametrize("status", (0, 1))
def test_a_launcher_that_gives_its_training_a_time_is_named(ending, status):
    got = ending(LAUNCHER.replace("STATUS", str(status)), base=False)
    assert (got.outcome, got.roots) == ("killed", ["wrapper-timeout"])
    assert "gave 4 s" in got.text("wrapper-timeout")
