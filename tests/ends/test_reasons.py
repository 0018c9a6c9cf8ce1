"""Ends whose reason stands in a place that is easily overlooked: a text that only the probe saw, a child, a helper, a clock."""

import subprocess

import pytest


def test_the_text_of_an_exception_says_why_wherever_it_was_printed(ending):
    program = """
norm = nn.BatchNorm1d(8)
for epoch in range(12):
    for first in range(0, 457, 8):
        loss = step(norm(torch.cat([x, x[:1]])[first:first + 8]), torch.cat([y, y[:1]])[first:first + 8], model, optimizer)
    print(f"epoch {epoch + 1}/12 loss {loss:.4f}", flush=True)
"""
    got = ending(program, shell="PYTHON PROGRAM > 'member 1.log' 2>&1; echo the next member")
    assert (got.code, got.outcome, got.roots) == (0, "raised", ["batchnorm-single-sample"])


def test_the_text_of_an_exception_that_was_hidden_says_why(ending):
    got = ending("""
class Cached(Dataset):
    reads = 0
    def __len__(self):
        return 456
    def __getitem__(self, index):
        Cached.reads += 1
        if Cached.reads > 2000:
            raise OSError(28, "No space left on device", "cache/2001")
        return x[index], y[index]

def fit():
    loader = DataLoader(Cached(), 8)
    for epoch in range(20):
        for bx, by in loader:
            step(bx, by, model, optimizer)

try:
    fit()
except Exception:
    pass
print("finished")
""")
    assert (got.code, got.outcome, got.roots) == (0, "stopped-early", ["disk-full"])
    assert "swallowed-exception" in got.blamed


def test_an_exception_that_ended_the_program_was_not_hidden(ending):
    program = """
rates = {0: 0.01, 1: 0.01, 2: 0.02, 3: 0.02}
for epoch in range(20):
    optimizer.param_groups[0]["lr"] = rates[epoch]
    for first in range(0, 456, 8):
        loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
    print(f"epoch {epoch + 1}/20 loss {loss:.4f}", flush=True)
"""
    for shell in (None, "PYTHON PROGRAM 2>&1 | tee log.txt"):
        got = ending(program, shell=shell)
        assert (got.outcome, got.roots) == ("raised", ["uncaught-exception"]), got.verdict["headline"]


def test_an_exception_caught_around_a_loop_that_counts_by_hand(ending):
    got = ending("""
class Fitter:
    def __init__(self, turns):
        self.turn, self.turns = 0, turns

    def one_turn(self):
        for number, part in enumerate(torch.arange(456).split(8)):
            if self.turn == 2 and number == 30:
                raise LookupError("nothing is known of part 30")
            step(x[part], y[part], model, optimizer)

    def fit(self):
        try:
            while self.turn < self.turns:
                self.one_turn()
                self.turn += 1
        except Exception:
            pass

Fitter(25).fit()
print("done")
""")
    assert (got.code, got.outcome, got.roots) == (0, "stopped-early", ["swallowed-exception"])
    assert "LookupError" in got.text("swallowed-exception")


@pytest.mark.parametrize(("text", "cause"), [
    ("unable to allocate shared memory(shm) for file </torch_7_8_9>: No space left on device (28)", "shm-exhausted"),
    ("[Errno 24] Too many open files: 'record 12'", "fd-exhausted"),
])
def test_what_a_worker_was_refused_outranks_that_it_was_a_worker(ending, text, cause):
    got = ending(f"""
class Records(Dataset):
    def __len__(self):
        return 456
    def __getitem__(self, index):
        if index == 200:
            raise OSError("{text}")
        return x[index], y[index]

for epoch in range(3):
    for bx, by in DataLoader(Records(), 8, num_workers=1):
        step(bx, by, model, optimizer)
""")
    assert (got.outcome, got.roots) == ("raised", [cause])


def test_a_limit_on_the_size_of_files_is_named(ending):
    got = ending("""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
with open("history.bin", "wb") as out:
    for epoch in range(10):
        step(x, y, model, optimizer)
        out.write(bytes(50000))
        out.flush()
""")
    assert (got.outcome, got.roots) == ("raised", ["rlimit-signal"])


def test_a_limit_on_cpu_time_is_named_though_the_status_is_the_shells(ending):
    got = ending("while True:\n    pass\n", base=False, shell="ulimit -S -t 3; PYTHON PROGRAM; exit $?")
    assert (got.code, got.outcome, got.roots) == (128 + 24, "killed", ["rlimit-signal"])


def test_a_worker_that_crashed_is_the_reason_and_the_trainer_raised(ending):
    got = ending("""
import ctypes

class Records(Dataset):
    def __len__(self):
        return 456
    def __getitem__(self, index):
        if index == 200:
            ctypes.string_at(0)
        return x[index], y[index]

for epoch in range(3):
    for bx, by in DataLoader(Records(), 8, num_workers=1):
        step(bx, by, model, optimizer)
""")
    assert got.outcome == "raised"
    assert got.roots[0] in ("segfault", "dataloader-worker-killed")


def test_time_that_was_up_before_the_epochs_were_done(ending):
    got = ending("""
began = time.monotonic()
for epoch in range(100000):
    for first in range(0, 456, 8):
        loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
    spent = time.monotonic() - began
    if spent > 3:
        break
print("saving")
""")
    assert (got.outcome, got.roots) == ("stopped-early", ["time-budget-reached"])
    assert not got.blamed


def test_time_as_the_only_plan_is_a_plan(ending):
    got = ending("""
began = time.monotonic()
while True:
    for first in range(0, 456, 8):
        loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
    if time.monotonic() - began > 3:
        break
print("saving")
""")
    assert got.outcome == "completed"
    assert not got.blamed


def test_patience_in_a_single_loop_over_steps(ending):
    got = ending("""
def train(most, every, allowed):
    low, misses = float("inf"), 0
    for turn in range(most):
        first = 8 * (turn % 57)
        step(x[first:first + 8], y[first:first + 8], model, optimizer)
        if turn % every == every - 1:
            value = step(x, y, model, optimizer)
            if value < low - 0.5:
                low, misses = value, 0
            else:
                misses += 1
            if misses > allowed:
                break
    print("value", value)

train(60000, 20, 4)
""")
    assert (got.outcome, got.roots) == ("stopped-early", ["early-stop-patience"])


EPISODES = """
import random
random.seed(1)
for episode in range(1, 301):
    for turn in range(40):
        first = random.randrange(448)
        loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
        over = random.random() < 0.2
        if over:
            break
    if episode % 10 == 0:
        print(f"episode {episode}/300 loss {loss:.4f}", flush=True)
"""


def test_episodes_that_end_by_themselves_leave_nothing_out(ending):
    got = ending(EPISODES)
    assert (got.outcome, got.roots) == ("completed", ["finished-epochs"])
    assert not got.blamed


def test_a_reader_that_left_is_named(ending):
    got = ending(EPISODES, shell="PYTHON PROGRAM 2>&1 | head -n 5")
    assert (got.code, got.outcome, got.roots) == (0, "raised", ["broken-pipe"])


SMALL_SHARED_MEMORY = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=20m none /dev/shm && exec "$@"', "sh"]


@pytest.mark.skipif(subprocess.run([*SMALL_SHARED_MEMORY, "true"], capture_output=True, check=False).returncode != 0,
                    reason="no file system may be mounted here")
def test_shared_memory_that_ran_full_is_named_though_the_signal_is_bus(ending):
    seen = ending("""
from multiprocessing import shared_memory
kept = []
for epoch in range(40):
    for i in range(0, 456, 8):
        step(x[i:i + 8], y[i:i + 8], model, optimizer)
    kept.append(shared_memory.SharedMemory(create=True, size=2 << 20))
    kept[-1].buf[:] = bytes([1]) * (2 << 20)
    time.sleep(0.5)  # What fills it at once is over before anybody looks.
""", surroundings=SMALL_SHARED_MEMORY)
    assert seen.outcome == "crashed"
    assert seen.roots == ["shm-exhausted"]


def test_the_counters_of_the_end_agree(ending):
    """Lines that count batches stand behind the last epoch that was told."""
    seen = ending("""
def one_epoch(epoch):
    for i in range(0, 456, 8):
        loss = step(x[i:i + 8], y[i:i + 8], model, optimizer)
        if i % 64 == 0:
            print(f"Epoch {epoch} [{i // 8 + 1}/57] loss {loss:.4f}")

for epoch in range(1, 13):
    one_epoch(epoch)
""")
    assert seen.outcome == "completed"
    assert seen.verdict["progress"]["epoch"] == seen.verdict["progress"]["epochs_planned"] == 12


def test_a_workers_own_words_are_told_not_its_traceback(ending):
    seen = ending("""
class Broken(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        raise OSError(28, "No space left on device")

for epoch in range(3):
    for batch in DataLoader(Broken(), batch_size=8, num_workers=1):
        pass
""")
    assert seen.outcome == "raised"
    text = seen.text(seen.roots[0])
    assert "No space left on device" in text
    assert "Traceback" not in text


def test_a_program_that_failed_behind_others_that_trained_is_the_end(ending):
    """The shell returns 0, and the counters of the programs before say nothing of the one that failed."""
    seen = ending("""
if len(sys.argv) > 1:
    model = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
for epoch in range(5):
    for i in range(0, 456, 8):
        step(x[i:i + 8], y[i:i + 8], model, optimizer)
""", shell="PYTHON PROGRAM; PYTHON PROGRAM other; echo done")
    assert seen.code == 0
    assert seen.outcome == "raised"
    assert seen.roots == ["shape-mismatch"]
    assert "epoch" not in seen.verdict["headline"]


def test_an_interrupt_that_is_caught_around_the_loop_while_nobody_looks(ending):
    """What runs behind the handler goes over data of its own: its end is not that of the pass that was cut."""
    seen = ending("""
import threading
data = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
held_out = DataLoader(TensorDataset(x, y), batch_size=100)
try:
    for epoch in range(2000):
        for bx, by in data:
            step(bx, by, model, optimizer)
        if epoch == 12:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
except KeyboardInterrupt:
    print("leaving")
finally:
    with torch.no_grad():
        print("held out", sum(float(((model(bx).squeeze(1) - by) ** 2).sum()) for bx, by in held_out))
""")
    assert seen.code == 0
    assert seen.outcome == "interrupted"
    assert seen.roots == ["user-interrupt"]


def test_a_loss_that_raises_for_every_batch_and_is_skipped(ending):
    seen = ending("""
def skipping(bx, by):
    try:
        loss = nn.functional.cross_entropy(model(bx), by.long())
        loss.backward()
        optimizer.step()
    except RuntimeError:
        pass

for epoch in range(5):
    for i in range(0, 456, 8):
        skipping(x[i:i + 8].clone(), torch.zeros(8, 3))
    print("epoch", epoch, "done")
""")
    assert seen.code == 0
    assert seen.roots in (["swallowed-exception"], ["label-type-error"])  # The text names the fault that was hidden.
    assert "target" in seen.text(seen.roots[0])


def test_a_count_in_print_that_was_not_half_full(ending):
    seen = ending("""
import sys
for step in range(1, 8001):
    if step % 500 == 0:
        print(f"step {step}/8000 loss {1 / step:.4f}", flush=True)
    if step == 1700:
        sys.exit(0)
""", base=False)
    assert seen.outcome == "stopped-early"
    assert seen.roots == ["premature-return"]


def test_a_count_in_print_that_ends_before_the_last_number(ending):
    seen = ending("""
for step in range(8000):
    if step % 2000 == 0:
        print(f"step {step}/8000 loss {1 / (step + 1):.4f}", flush=True)
""", base=False)
    assert seen.outcome == "completed"
    assert not seen.blamed


def test_a_second_stage_that_failed_before_it_trained(ending):
    seen = ending("""
if len(sys.argv) > 1:
    nn.Linear(9, 2).load_state_dict(nn.Linear(8, 2).state_dict())
for epoch in range(5):
    for i in range(0, 456, 8):
        step(x[i:i + 8], y[i:i + 8], model, optimizer)
""", shell="PYTHON PROGRAM; PYTHON PROGRAM other | cat; echo done")
    assert seen.outcome == "raised"
    assert seen.roots == ["checkpoint-mismatch"]


@pytest.mark.parametrize("shell", ["bash <<'END'\nPYTHON PROGRAM\necho went on\nEND", "PYTHON PROGRAM\necho went on"])
def test_a_shell_that_goes_on_tells_how_its_child_died(ending, shell):
    seen = ending("""
for epoch in range(20):
    for i in range(0, 456, 8):
        step(x[i:i + 8], y[i:i + 8], model, optimizer)
    if epoch == 7:
        os.kill(os.getpid(), signal.SIGBUS)
""", shell=shell)
    assert seen.code == 0
    assert seen.outcome == "crashed"
    assert seen.roots == ["bus-error"]


def test_a_printed_traceback_before_all_training_that_was_survived(ending):
    """What follows came at several times: it was not waiting in a buffer when the traceback was printed."""
    seen = ending("""
import time, traceback
try:
    raise MemoryError("no room for 137 MiB")
except MemoryError:
    traceback.print_exc()
for epoch in range(1, 7):
    print(f"epoch {epoch} test mse {1 / epoch:.4f}", flush=True)
    time.sleep(0.4)
""", base=False, shell="PYTHON PROGRAM 2>&1")
    assert seen.outcome == "completed"
    assert not seen.blamed


def test_a_printed_traceback_that_was_survived_before_is_no_end(ending):
    seen = ending("""
import time, traceback
def save():
    raise OSError(28, "No space left on device")
for epoch in range(1, 7):
    print(f"epoch {epoch}/6 mse {1 / epoch:.4f}", flush=True)
    time.sleep(0.3)
    try:
        save()
    except OSError:
        traceback.print_exc()
print("kept 5 checkpoints")
""", base=False, shell="true; PYTHON PROGRAM 2>&1")
    assert seen.outcome == "completed"
    assert not seen.blamed


def test_time_that_was_up_in_a_script_that_hands_on_the_status(ending):
    seen = ending("""
import time
for turn in range(600):
    time.sleep(0.1)
    print("turn", turn, flush=True)
""", base=False, shell="timeout -k 3 5 PYTHON PROGRAM > log; code=$?; tail -n 1 log; exit $code")
    assert (seen.code, seen.outcome, seen.roots) == (124, "killed", ["wrapper-timeout"])


def test_a_search_for_the_batch_that_fits_is_no_training(ending):
    """Its failure is what it looks for."""
    seen = ending("""
def fits():
    size = 64
    while size <= 1 << 20:
        try:
            if size > 4096:
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 2147483648 bytes")
            (made()(torch.randn(size, 8)) ** 2).mean().backward()
            size *= 8
        except RuntimeError:
            break
    return size
print("fits:", fits())
for turn in range(300):
    step(x[:64], y[:64], model, optimizer)
""")
    assert seen.outcome == "completed"
    assert not seen.blamed


def test_a_goal_for_the_mean_of_what_was_gathered_is_a_goal(ending):
    seen = ending("""
import collections
last = collections.deque(maxlen=20)
for episode in range(50000):
    last.append(-step(x, y, model, optimizer))
    if len(last) == 20 and sum(last) / len(last) >= -1.0:
        break
""")
    assert (seen.outcome, seen.roots) == ("stopped-early", ["target-reached"])
    assert not seen.blamed


def test_a_goal_that_sets_a_flag_for_the_loop_around_is_a_goal(ending):
    seen = ending("""
scores, solved = [], False
for episode in range(5000):
    if solved:
        break
    for turn in range(20):
        value = -step(x, y, model, optimizer)
        if turn == 19:
            scores.append(value)
            if sum(scores[-5:]) / 5 > -1.0 and len(scores) > 4:
                solved = True
                break
""")
    assert (seen.outcome, seen.roots) == ("stopped-early", ["target-reached"])
    assert not seen.blamed


def test_a_stream_that_ran_dry_before_the_count_in_print(ending):
    """The loop itself has no plan: the program's own words have."""
    seen = ending("""
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([(x[i % 456], y[i % 456]) for i in range(3200)])
for turn, (bx, by) in enumerate(DataLoader(Stream(), 8), 1):
    loss = step(bx, by, model, optimizer)
    if turn % 20 == 0:
        print(f"step {turn}/1200 loss {loss:.4f}", flush=True)
    if turn >= 1200:
        break
""")
    assert (seen.outcome, seen.roots) == ("stopped-early", ["data-ran-out"])


def test_an_upload_that_fails_behind_a_training_without_a_framework(ending):
    seen = ending("""
import sys, time
if len(sys.argv) > 1:
    raise ConnectionRefusedError(111, "Connection refused")
for epoch in range(1, 9):
    print(f"epoch {epoch}/8 loss {1 / epoch:.4f}", flush=True)
    time.sleep(0.1)
""", base=False, shell="PYTHON PROGRAM; PYTHON PROGRAM upload || true")
    assert seen.outcome == "completed"
    assert not seen.blamed


LONG = """
epoch = 0
while epoch < 100000:
    for _ in range(50):
        step(x, y, model, optimizer)
    epoch += 1
    print(f"epoch {epoch}/100000", flush=True)
"""


def test_a_limit_on_cpu_time_that_a_script_sets_and_goes_on_after(ending):
    got = ending(LONG, shell="ulimit -t 12; PYTHON PROGRAM; PYTHON -c 'print(\"report\")'")
    assert (got.code, got.outcome, got.roots) == (0, "killed", ["rlimit-signal"])
    assert got.blamed == ["rlimit-signal"]


def test_a_reader_that_left_a_program_without_a_framework(ending):
    got = ending("""
import time
for epoch in range(1, 41):
    print(f"epoch {epoch}/40", flush=True)
    print(f"    train acc {0.5 + epoch / 100:.4f}", flush=True)
    time.sleep(0.05)
""", base=False, shell="PYTHON PROGRAM | head -n 21; echo done")
    assert (got.code, got.outcome, got.roots) == (0, "raised", ["broken-pipe"])


def test_few_steps_between_many_hidden_exceptions(ending):
    got = ending("""
table = nn.Embedding(90, 8)
optimizer = torch.optim.SGD([*model.parameters(), *table.parameters()], 0.01)
items = torch.randint(0, 100, (456, 4))
for epoch in range(8):
    for part in torch.randperm(456).split(8):
        try:
            step(table(items[part]).mean(1), y[part], model, optimizer)
        except Exception:
            pass
    print(f"epoch {epoch + 1}/8", flush=True)
""")
    assert (got.code, got.outcome) == (0, "stopped-early")
    assert "swallowed-exception" in got.blamed
    assert "index out of range" in got.text("swallowed-exception")


def test_workers_that_their_own_program_ends_were_not_killed(ending):
    got = ending("""
import multiprocessing

def compete(end):
    model = made()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    while True:
        for _ in range(end.recv()):
            loss = step(x, y, model, optimizer)
        end.send(loss)

pairs = [multiprocessing.get_context("fork").Pipe() for _ in range(3)]
workers = [multiprocessing.get_context("fork").Process(target=compete, args=(far,), daemon=True) for _, far in pairs]
for worker in workers:
    worker.start()
for steps in (100, 300):
    for near, _ in pairs[: 1 if steps == 300 else 3]:
        near.send(steps)
        print(steps, "steps, loss", near.recv(), flush=True)
    for worker in workers[1:]:
        worker.terminate()
        worker.join()
workers[0].terminate()
workers[0].join()
""")
    assert (got.code, got.outcome, got.blamed) == (0, "completed", [])


def test_a_time_limit_that_asks_by_sigint_is_no_ctrl_c(ending):
    got = ending(LONG, shell="exec timeout -s INT 6 PYTHON PROGRAM")
    assert (got.code, got.outcome, got.roots) == (124, "killed", ["wrapper-timeout"])
