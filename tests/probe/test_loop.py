"""Plan, progress and exit of loops as strangers write them. Without torch: runs on every Python there is."""

import os

import pytest

from conftest import PYTHON_FOLDER
from found_pythons import found_pythons

# Stands in for the torch observers: tells the watch of a step, as an optimizer's hook would.
PRELUDE = """
import sys
sys.path.insert(0, {folder!r})
from whystop_probe.core import channel
from whystop_probe.core.governor import Governor
from whystop_probe.loop.watch import LoopWatch
from whystop_probe.core.pulse import ZERO_GRAD, Bell, Pulse
from whystop_probe.core.training import Training
import atexit
class _Optimizer:
    param_groups = [{{"lr": 0.1}}]
_optimizer = _Optimizer()
_pulse = Pulse()
_pulse.set_first(_optimizer)
_pulse.attention_at = 1 << 40
_shared = channel.shared()
_shared.open()
_training = Training(_shared, Governor(_pulse, share=100), _pulse)  # A process without torch earns next to nothing.
_watch = LoopWatch(_training)
_pulse.loop_event = _watch.on_event
atexit.register(_watch.at_exit)
def step():
    _pulse.after_step(_optimizer)
zero_grad = Bell(_pulse, ZERO_GRAD, "zero_grad", None)
#---
"""


PYTHONS = found_pythons()


@pytest.fixture(params=PYTHONS, ids=lambda name: name.split()[0])
def loop(run, script, request):
    def with_ring(text):
        prelude = PRELUDE.format(folder=PYTHON_FOLDER)
        got = run(script(prelude + text.lstrip("\n")), python=PYTHONS[request.param], first_on_path=os.path.dirname(__file__))
        assert got.err == ""
        offset = len(prelude.splitlines())
        for record in got.records:
            for key in ("line", "loop_line", "flag_line"):
                if key in record.get("attributes", {}):
                    record["attributes"][key] -= offset
        return got

    return with_ring


def last_exit(got):
    return got.observations("loop-exit")[-1]


HITS = """
goal, hits = 0.9, 0
for epoch in range(60):
    step()
    score = 0.5 + 0.1 * epoch
    RAISE
    if hits == 2:
        break
"""


def test_a_goal_that_must_hold_for_some_turns_is_no_patience(loop):
    for how in ("hits = hits + 1 if score >= goal else 0", "if score > goal:\n        hits += 1\n    else:\n        hits = 0"):
        assert last_exit(loop(HITS.replace("RAISE", how)))["meaning"] == "target"


def test_turns_without_a_gain_are_counted_by_patience(loop):
    gain = "gain = 0.2 - 0.1 * epoch\n    hits = hits + 1 if gain < 0.05 else 0"
    missed = "if score < 2 * goal:\n        hits += 1\n    else:\n        hits = 0"
    for how in (gain, missed):
        assert last_exit(loop(HITS.replace("RAISE", how)))["meaning"] == "patience"


def test_break_under_patience(loop):
    got = loop("""
best, wait, patience = 9.0, 0, 1
for epoch in range(10):
    for batch in range(3):
        zero_grad()
        step()
    val = [1.0, 1.1][epoch]
    if val < best:
        best, wait = val, 0
    else:
        wait += 1
        if wait >= patience:
            break
print("after")
""")
    plans = got.observations("loop-plan")
    assert [(plan["role"], plan["planned"], plan["variable"]) for plan in plans] == [("epochs", 10, "epoch"), ("steps", 3, "batch")]
    left = last_exit(got)
    assert (left["how"], left["line"], left["turn"], left["planned"]) == ("break", 12, 2, 10)
    assert left["condition"] == "not (val < best) and wait >= patience"
    assert left["values"] == "val=1.1, best=1, wait=1, patience=1"
    assert left["seen"] == 1
    assert got.of("progress")[-1]["epoch"] == 2


def test_exception_caught_then_break(loop):
    got = loop("""
def main():
    for epoch in range(20):
        try:
            zero_grad()
            if epoch == 2:
                raise RuntimeError("CUDA out of memory")
            step()
        except RuntimeError as error:
            print("stopping")
            break
main()
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["condition"], left["turn"]) == ("break", 10, "except RuntimeError", 3)
    assert (left["error_type"], left["error_message"]) == ("RuntimeError", "CUDA out of memory")


def test_return_in_a_method_with_the_step_in_another(loop):
    got = loop("""
class Trainer:
    def __init__(self):
        self.max_epochs = 7
    def train_step(self):
        zero_grad()
        step()
    def fit(self):
        for e in range(self.max_epochs):
            self.train_step()
            v = e
            if v >= 2:
                return v
Trainer().fit()
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["condition"], left["values"]) == ("return", 12, "v >= 2", "v=2")
    assert (left["turn"], left["planned"]) == (3, 7)


def test_sys_exit_in_a_one_line_if(loop):
    got = loop("""
import sys
def main():
    for epoch in range(5):
        step()
        loss = float("nan") if epoch == 1 else 1.0
        if loss != loss: sys.exit(0)
main()
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["condition"], left["values"]) == ("exit", 6, "loss != loss", "loss=nan")


def test_one_line_break_never_taken_is_no_break(loop):
    got = loop("""
def main():
    for e in range(4):
        step()
        if e == 99: break
main()
""")
    left = last_exit(got)
    assert (left["how"], left["turn"], left["planned"]) == ("end", 4, 4)


def test_one_line_break_taken(loop):
    got = loop("""
def main():
    for e in range(4):
        step()
        if e == 1: break
    print("after")
main()
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["values"], left["turn"]) == ("break", 4, "e=1", 2)


def test_while_with_a_counter_and_a_flag(loop):
    got = loop("""
def main():
    total, n, stop = 100, 0, False
    while n < total:
        step()
        n += 1
        if n > 5:
            stop = True
        if stop:
            break
main()
""")
    plan = got.observations("loop-plan")[-1]
    assert (plan["kind"], plan["planned"], plan["variable"]) == ("while", 100, "n")
    left = last_exit(got)
    assert (left["how"], left["line"], left["flag"], left["flag_line"], left["flag_condition"]) == ("break", 9, "stop", 7, "n > 5")


def test_while_true_with_a_step_budget(loop):
    got = loop("""
n, budget = 0, 6
while True:
    step()
    n += 1
    if n >= budget:
        break
""")
    plan = got.observations("loop-plan")[-1]
    assert (plan["planned"], plan["variable"], plan["over"]) == (6, "n", "n >= budget")
    assert last_exit(got)["values"] == "n=6, budget=6"


def test_while_with_a_goal_before_its_counter(loop):
    got = loop("""
acc, goal, n = 0.0, 0.9, 0
while acc < goal and n < 500:
    step()
    n += 1
    acc = n / 10
""")
    plan = got.observations("loop-plan")[-1]
    assert (plan["kind"], plan["planned"], plan["variable"]) == ("while", 500, "n")
    left = last_exit(got)
    assert (left["how"], left["line"], left["turn"], left["values"]) == ("end", 2, 9, "acc=0.9, goal=0.9, n=9")


def test_a_goal_alone_is_no_plan(loop):
    got = loop("""
acc = 0.0
while acc < 1.0:
    step()
    acc = acc + 0.25
""")
    assert "planned" not in got.observations("loop-plan")[-1]
    assert last_exit(got)["how"] == "end"


def test_a_return_that_stands_inside_the_loop_by_mistake(loop):
    got = loop("""
def train(epochs):
    for epoch in range(epochs):
        for i in range(300):
            step()
        return epoch
train(10)
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["planned"]) == ("return", 5, 10)


def test_hand_written_stopper_object(loop):
    got = loop("""
class Stopper:
    def __init__(self, patience):
        self.patience, self.counter, self.best, self.api_key = patience, 0, None, "secret"
    def __call__(self, loss):
        self.counter += 1
        return self.counter >= self.patience
stopper = Stopper(3)
for epoch in range(50):
    step()
    if stopper(1.0):
        print("early")
        break
""")
    left = last_exit(got)
    assert (left["how"], left["line"], left["turn"]) == ("break", 12, 3)
    assert left["values"] == "stopper.patience=3, stopper.counter=3"


def test_uncaught_exception_leaves_the_loop(loop, run):
    got = loop("""
for epoch in range(9):
    step()
    try:
        pass
    except ValueError:
        pass
""")
    assert last_exit(got)["how"] == "end"


def test_a_search_runs_the_same_loop_again(loop):
    got = loop("""
def train(lr, epochs):
    for epoch in range(epochs):
        step()
        if epoch == lr:
            break
for lr, epochs in ((1, 5), (2, 6), (99, 3)):
    train(lr, epochs)
""")
    exits = [item for item in got.observations("loop-exit") if item["function"] == "train"]
    assert [(item["how"], item["turn"], item["planned"]) for item in exits] == [("break", 2, 5), ("break", 3, 6), ("end", 3, 3)]


def test_limit_inside_the_batch_loop(loop):
    got = loop("""
def main():
    for epoch in range(2):
        for i in range(1000):
            if i >= 3:
                break
            step()
main()
""")
    exits = got.observations("loop-exit")
    assert [(item["role"], item["how"], item["line"]) for item in exits] == [("steps", "break", 5), ("steps", "break", 5), ("epochs", "end", 2)]


POOR = """
_pulse.share, _pulse.tokens_s, _training.governor._share, _training.governor._later_share, _training.governor._reserve_s = 0, -1, 0, 0, 0
_training.governor.spend("window", 1, 1e-3)
"""


def test_a_counter_about_to_reach_its_bound_is_watched_even_by_the_poor(loop):
    got = loop(POOR + """
def train(max_steps):
    global_step = 0
    for epoch in range(50):
        for batch in range(40):
            zero_grad()
            step()
            global_step += 1
            if global_step >= max_steps:
                return
            _pulse.tokens_s = -1
train(137)
""")
    left = last_exit(got)
    assert (left["how"], left["condition"], left["values"]) == ("return", "global_step >= max_steps", "global_step=137, max_steps=137")


def test_the_only_way_out_is_told_though_nobody_saw_it(loop):
    got = loop(POOR + """
import sys
losses = iter([3, 2, 1, 0.1])
for epoch in range(10):
    for batch in range(3):
        zero_grad()
        step()
        _pulse.tokens_s = -1
    loss = next(losses)
    sys.settrace(None)
    if loss < 0.5:
        break
print(int(sys.version_info >= (3, 12)))
""")
    left = last_exit(got)
    assert (left["how"], left["condition"], left["values"], left["turn"]) == ("break", "loss < 0.5", "loss=0.1", 4)
    assert left["seen"] == int(got.out)  # sys.monitoring sees every exit, windows do not.


def test_of_two_ways_out_the_one_whose_condition_holds_is_told(loop):
    got = loop(POOR + """
import sys
losses = iter([3, 2, 1, 0.1])
for epoch in range(10):
    step()
    loss = next(losses)
    sys.settrace(None)
    if loss > 100:
        break
    if loss < 0.5:
        break
""")
    assert last_exit(got)["condition"] == "loss < 0.5"


def test_a_loop_left_by_an_exception_has_no_way_out_to_guess(loop):
    got = loop(POOR + """
import sys
def helper():
    sys.settrace(None)
    raise SystemExit(0)
for epoch in range(10):
    step()
    if epoch == 3:
        helper()
    if epoch > 100:
        break
""")
    assert got.observations("loop-exit") == []


def test_a_function_whose_steps_are_far_from_its_plan_was_left_by_its_only_way_out(loop):
    got = loop(POOR + """
import sys, time
def main():
    for epoch in range(200):
        for part in iter(range(20)):
            zero_grad()
            step()
            sys.settrace(None)
            _pulse.tokens_s = -1
            time.sleep(0.001)
        score = epoch / 10
        if score >= 3:
            break
main()
""")
    left = last_exit(got)
    assert (left["how"], left["condition"]) == ("break", "score >= 3")
    assert 25 <= left["turn"] <= 35


GENERATOR = """
import time
def batches():
    for part in range(400):
        yield part
def fit(source):
    for epoch in range(20):
        for part in source:
            zero_grad()
            step()
            time.sleep(0.001)
"""


def test_epochs_behind_a_generator_that_a_few_steps_spend_are_told(loop):
    """Too few for a pace: but a generator is spent for good, and the loop over it has no other way out."""
    got = loop("""
source = (part for part in range(9))
for epoch in range(30):
    for part in source:
        zero_grad()
        step()
""")
    left = last_exit(got)
    assert (left["how"], left["turn"], left["stepped_in_turn"]) == ("end", 30, 1)


def test_a_function_that_is_called_again_with_another_plan(loop):
    got = loop("""
import time
def fit(epochs):
    for epoch in range(epochs):
        for part in range(20):
            zero_grad()
            step()
            time.sleep(0.003)
fit(9)
fit(7)
""")
    plans = [item["planned"] for item in got.observations("loop-plan") if item["role"] == "epochs"]
    assert (plans[0], plans[-1]) == (9, 7)


def test_epochs_behind_an_exhausted_generator_are_told(loop):
    left = last_exit(loop(GENERATOR + "fit(batches())\n"))
    assert (left["how"], left["turn"], left["batches_over"]) == ("end", 20, "source")
    assert left["stepped_in_turn"] <= 3


def test_the_same_loop_over_a_list_tells_no_last_step(loop):
    left = last_exit(loop(GENERATOR + "fit(list(batches())[:20])\n"))
    assert (left["how"], left["turn"], left.get("stepped_in_turn")) == ("end", 20, None)
