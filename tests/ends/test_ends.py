"""Ways to end, each of a general kind: what the verdict says first. Real programs under the real binary."""

import pytest

EPOCHS = """
for epoch in range({epochs}):
    for first in range(0, 456, 8):
        loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
{behind}
    print(f"epoch {{epoch + 1}}/{epochs} loss {{loss:.4f}}", flush=True)
"""


def epochs(count, behind=""):
    return EPOCHS.format(epochs=count, behind="\n".join("    " + line for line in behind.strip().splitlines()))


def test_a_run_to_its_end_is_completed_and_nothing_is_blamed(ending):
    got = ending(epochs(12))
    assert (got.outcome, got.roots) == ("completed", ["finished-epochs"])
    assert [(level["planned"], level["done"]) for level in got.verdict["account"] if level["level"] == "epochs"] == [(12, 12)]


def test_an_error_behind_a_pipe_or_a_shell_that_goes_on_is_an_error(ending):
    program = epochs(20, "if epoch == 10:\n    x[:8].reshape(3, 7)")
    for shell in ("PYTHON PROGRAM 2>&1 | tee log.txt", "PYTHON PROGRAM; echo finished"):
        got = ending(program, shell=shell)
        assert got.code == 0
        assert got.outcome == "raised", (shell, got.verdict["headline"])
        assert got.blamed


def test_lines_that_come_again_are_no_new_run(ending):
    got = ending("""
for fold in range(3):
    print("Starting the training of a model with 8 features")
    model = made()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(5):
        for first in range(0, 456, 8):
            loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
        print(f"Epoch {epoch + 1}/5 loss {loss:.4f}", flush=True)
    print("Training finished")
""")
    assert got.outcome == "completed"
    assert len(got.verdict["trainings"]) == 3
    assert "no loss" not in got.verdict["learning_text"]


def test_a_stream_that_runs_dry_ends_the_run_early(ending):
    got = ending("""
def stream():
    for first in range(0, 456, 8):
        yield x[first:first + 8], y[first:first + 8]

total, made_so_far = 5000, 0
for bx, by in stream():
    loss = step(bx, by, model, optimizer)
    made_so_far += 1
    if made_so_far % 10 == 0:
        print(f"step {made_so_far}/{total} loss {loss:.4f}", flush=True)
    if made_so_far >= total:
        break
print("done")
""")
    assert (got.outcome, got.roots) == ("stopped-early", ["data-ran-out"])


def test_batches_left_out_by_a_break_in_every_epoch(ending):
    got = ending("""
loader = DataLoader(TensorDataset(x, y), 8, shuffle=True)
for epoch in range(10):
    for number, (bx, by) in enumerate(loader):
        loss = step(bx, by, model, optimizer)
        if number == 2:
            break
    print(f"epoch {epoch + 1}/10 loss {loss:.4f}", flush=True)
""")
    assert (got.outcome, got.roots) == ("stopped-early", ["premature-return"])
    assert "3 of 57" in got.text("premature-return")


def test_batches_left_out_by_an_exception_that_is_caught_in_every_epoch(ending):
    records = """
class Records(Dataset):
    def __len__(self):
        return 456
    def __getitem__(self, index):
        if index == 200:
            raise ValueError("could not parse record 200")
        return x[index], y[index]

loader = DataLoader(Records(), 8)
"""
    for loop in (
        """
for epoch in range(10):
    try:
        for bx, by in loader:
            loss = step(bx, by, model, optimizer)
    except ValueError as error:
        print(error)
    print(f"epoch {epoch + 1}/10", flush=True)
""",
        """
for epoch in range(10):
    for first in range(0, 456, 8):
        try:
            bx, by = loader.dataset[first][0][None], y[first:first + 1]
            loss = step(bx, by, model, optimizer)
        except ValueError as error:
            break
    print(f"epoch {epoch + 1}/10", flush=True)
""",
    ):
        got = ending(records + loop)
        assert (got.outcome, got.roots) == ("stopped-early", ["swallowed-exception"]), got.verdict["headline"]


def test_a_failed_upload_that_was_survived_is_no_end(ending):
    got = ending(epochs(8, """
try:
    raise ConnectionError("upload refused")
except ConnectionError as error:
    print("upload failed:", error)
"""))
    assert (got.outcome, got.roots) == ("completed", ["finished-epochs"])


def test_nothing_left_to_do_after_a_resume(ending):
    got = ending("""
def main(start, epochs):
    optimizer.load_state_dict(optimizer.state_dict())
    print("resumed from epoch", start)
    for epoch in range(start, epochs):
        step(x[:8], y[:8], model, optimizer)
    print("training done")

main(10, 10)
""")
    assert (got.outcome, got.roots) == ("completed", ["resume-already-complete"])


def test_patience_whatever_its_name(ending):
    got = ending("""
turn, limit, most, misses, low = 0, 50, 1, 0, float("inf")
while turn < limit and misses < most:
    for first in range(0, 400, 8):
        step(x[first:first + 8], y[first:first + 8], model, optimizer)
    value = 1.0 / (turn + 1) if turn < 4 else 2.0
    if value < low:
        low, misses = value, 0
    else:
        misses += 1
    turn += 1
    print(f"epoch {turn} value {value:.5f}", flush=True)
""")
    assert (got.outcome, got.roots) == ("stopped-early", ["early-stop-patience"])


SWEEP = """
for rate in RATES:
    model = made()
    optimizer = torch.optim.SGD(model.parameters(), rate)
    for epoch in range(EPOCHS):
        for first in range(0, 456, 8):
            loss = step(x[first:first + 8], y[first:first + 8], model, optimizer)
    print(f"rate {rate} loss {loss:.4f}", flush=True)
"""


def sweep(ending, rates, epochs):
    return ending(SWEEP.replace("RATES", str(rates)).replace("EPOCHS", str(epochs)))


def test_the_rate_that_diverged_is_the_one_that_is_blamed(ending):
    """Two trainings may be two stages: the other one is not blamed for it."""
    got = sweep(ending, (5.0, 0.001), 6)
    assert got.outcome == "completed"
    assert len(got.verdict["trainings"]) == 2
    assert got.verdict["learning_text"].startswith("training 1 of 2")
    rates = [item["text"] for cause in got.verdict["causes"] if cause["answers"] == "learning" for item in cause["evidence"]]
    assert rates and not any("0.001" in text for text in rates)


def test_what_one_rate_of_a_sweep_did_is_told_of_that_one(ending):
    """5.0 diverges and another one learns well: that is what a sweep is for."""
    got = sweep(ending, (5.0, 0.01, 0.001), 6)
    assert (got.outcome, got.blamed) == ("completed", [])
    assert got.verdict["trainings"][0].startswith("training 1 of 3 (SGD, lr 5): diverged")
    assert got.verdict["learning_text"].startswith("training 2 of 3 (SGD, lr 0.01)")


def test_a_sweep_that_found_a_good_rate_is_not_blamed_for_the_slow_ones(ending):
    got = sweep(ending, (0.00002, 0.05, 0.01), 12)
    assert (got.outcome, got.blamed) == ("completed", [])
    assert not got.verdict["learning_text"].startswith("training 1 of 3")


def test_anomaly_detection_names_nan_and_the_forward_line(ending):
    got = ending("""
torch.autograd.set_detect_anomaly(True)
def strange(prediction, target):
    return torch.sqrt((prediction - target) * 0).mean()  # The line.

def fit():
    for first in range(0, 456, 8):
        loss = strange(model(x[first:first + 8]).squeeze(1), y[first:first + 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
fit()
""")
    assert got.outcome == "raised"
    assert "returned nan values" in got.text("stop-on-nan") and "a program.py:" in got.text("stop-on-nan")
    assert not any(item["what"] == "NaN" for item in got.verdict["ruled_out"])


def asked(number):
    return f'subprocess.Popen(["sh", "-c", "sleep 2; kill -{number} %d" % os.getpid()])\n'


def test_a_signal_that_the_program_handles_is_why_it_ended(ending):
    slow = epochs(4000, "time.sleep(0.01)\nif leave:\n    sys.exit(0)")
    got = ending("leave = []\nsignal.signal(signal.SIGTERM, lambda *rest: leave.append(1))\n" + asked("TERM") + slow)
    assert (got.code, got.outcome, got.roots) == (0, "killed", ["external-sigterm"])
    inner = epochs(4000, "time.sleep(0.01)").replace("\n", "\n    ")
    got = ending(asked("INT") + "try:\n    " + inner + "\nexcept KeyboardInterrupt:\n    print('saving')\n")
    assert (got.code, got.outcome, got.roots) == (0, "interrupted", ["user-interrupt"])


def test_a_process_that_leaves_by_the_back_door_is_not_completed(ending):
    got = ending("def check(epoch):\n    if epoch == 4:\n        os._exit(0)\n" + epochs(40, "time.sleep(0.05)\ncheck(epoch)"))
    assert (got.code, got.outcome, got.roots) == (0, "stopped-early", ["premature-return"])


@pytest.mark.parametrize("shell", [None, "PYTHON PROGRAM"])
@pytest.mark.parametrize("code", [0, 3])
def test_a_thread_that_ends_the_process_with_a_status_of_its_own(ending, shell, code):
    got = ending(
        "import threading\ndef watchdog():\n    time.sleep(4)\n    os._exit(CODE)\nthreading.Thread(target=watchdog, daemon=True).start()\n"
.replace("CODE", str(code))
        + epochs(400, "time.sleep(0.1)"),
        shell=shell,
    )
    assert (got.code, got.outcome, got.roots) == (code, "stopped-early", ["premature-return"])


def test_a_limit_on_cpu_time_is_named_though_the_signal_is_kill(ending):
    got = ending("while True:\n    step(x, y, model, optimizer)\n", cpu_seconds=15)
    assert got.outcome == "killed"
    assert "rlimit-signal" in got.blamed or got.roots == ["rlimit-signal"]


def test_a_limit_on_cpu_time_that_a_script_has_set_is_named(ending):
    """The job is the shell, and has no such limit."""
    got = ending("while True:\n    step(x, y, model, optimizer)\n", shell="ulimit -t 14; PYTHON PROGRAM; echo status $?")
    assert (got.outcome, got.roots) == ("killed", ["rlimit-signal"])


@pytest.mark.parametrize("death, cause", (("ctypes.string_at(0)", "segfault"), ("os.kill(os.getpid(), signal.SIGKILL)", "external-sigkill")))
def test_a_worker_of_a_pool_that_died_is_named(ending, death, cause):
    """Only its parent is told how it died."""
    got = ending(f"""
import ctypes, os, signal
from concurrent.futures import ProcessPoolExecutor

def work(number):
    {death}

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(work, [1])))
""", base=False)
    assert (got.outcome, got.roots) == ("raised", [cause])


def test_packages_that_do_not_fit_have_a_cause_of_their_own(ending):
    got = ending("import numpy\nprint(numpy.bool8_that_was_removed)\n", base=False)
    assert got.roots == ["package-version-mismatch"]


def test_a_download_that_failed_is_named(ending):
    got = ending("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/data.zip', timeout=5)\n", base=False)
    assert got.roots == ["remote-fetch-failed"]


def test_the_normal_end_of_a_trainer_of_transformers(ending):
    got = ending("""
import torch
from torch import nn
from transformers import Trainer, TrainingArguments

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 1)
    def forward(self, x, labels=None):
        found = self.linear(x).squeeze(-1)
        return {"loss": ((found - labels) ** 2).mean(), "logits": found}

torch.manual_seed(0)
weights = torch.randn(8)
rows = [{"x": x, "labels": (x * weights).sum()} for x in torch.randn(320, 8)]
arguments = TrainingArguments("out", num_train_epochs=3, per_device_train_batch_size=16, learning_rate=1e-2, report_to=[],
                              save_strategy="no", logging_steps=5, use_cpu=True)
Trainer(Model(), arguments, train_dataset=rows).train()
""", base=False)
    assert (got.outcome, got.roots) == ("completed", ["finished-epochs"])


def test_a_print_whose_reader_is_gone_was_raised(ending):
    """`head` has enough: Python's print raises, where a program in C would die by SIGPIPE."""
    program = "import time\nfor epoch in range(60):\n    print(f'epoch {epoch + 1}/60 loss {1 / (epoch + 1):.4f}', flush=True)\n    time.sleep(0.05)\n"
    got = ending(program, base=False, shell="(PYTHON -u PROGRAM; echo $? > status) | head -n 12; exit $(cat status)")
    assert (got.outcome, got.roots) == ("raised", ["broken-pipe"])
