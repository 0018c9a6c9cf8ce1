"""What `whystop why FILE` says of logs of runs that it did not watch, from the file to the words."""

import json
import math
import os
import subprocess

import pytest

from conftest import TIMEOUT, WHYSTOP

LONG_AGO = 1_600_000_000


def judged(path):
    for folder, _, names in os.walk(path) if path.is_dir() else [(path.parent, (), [path.name])]:
        for name in names:
            os.utime(os.path.join(folder, name), (LONG_AGO, LONG_AGO))
    done = subprocess.run([WHYSTOP, "why", "--json", path], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def verdict_of(tmp_path):
    def judge(text):
        (tmp_path / "train.log").write_text(text)
        return judged(tmp_path / "train.log")

    return judge


def steps(until, line):
    return "".join(line.format(step=step, loss=0.2 + 2.3 * math.exp(-step / 600), left=(2000 - step) // 3) for step in range(50, until + 1, 50))


def raised(message, source="main()"):
    return f'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    {source}\n{message}\n'


def test_a_countdown_that_came_to_0_is_the_end(verdict_of):
    line = "step: {step}, loss: {loss:.4f}, eta_seconds: {left}\n"
    assert verdict_of(steps(2000, line))["outcome"] == "completed"
    assert verdict_of(steps(1500, line))["outcome"] == "unknown"


def test_a_log_that_just_ends_says_where(verdict_of):
    told = verdict_of("Total steps: 2000\n" + steps(1200, "step {step} | loss {loss:.4f}\n"))
    assert told["headline"] == "ended at step 1,200 of 2,000, and nothing here says how"


def test_epochs_that_early_stopping_left_are_not_the_plan(verdict_of):
    epochs = "".join(f"Epoch {epoch}/300 loss: {1 / epoch + 0.5:.4f}\n" for epoch in range(1, 84))
    told = verdict_of(epochs + "EarlyStopping: Training stopped early as no improvement observed in last 50 epochs.\n\n"
                      "83 epochs completed in 0.150 hours.\n")
    assert told["outcome"] == "stopped-early"
    assert [cause["id"] for cause in told["causes"]] == ["finished-early-by-design"]


def test_smoothed_figures_are_called_so(verdict_of):
    values = [2.0 - 0.01 * step + (0.3 if step % 2 else -0.3) for step in range(150)]
    told = verdict_of("".join(f"step {step} loss {value:.4f}\n" for step, value in enumerate(values)))
    assert f"(smoothed; the last is {values[-1]:.4g})" in told["learning_text"]
    told = verdict_of("Epoch 1/3 loss 2.5\nEpoch 2/3 loss 1.5\nEpoch 3/3 loss 0.5\n")
    assert "2.5 -> 0.5 over" in told["learning_text"]


def test_what_torch_load_refuses_it_answers_itself(verdict_of):
    told = verdict_of(raised(
        "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options.\n"
        "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument.\n"
        "\tWeightsUnpickler error: Unsupported global: GLOBAL numpy.core.multiarray.scalar was not an allowed global by default."))
    (cause,) = [one for one in told["causes"] if one["role"] == "root"]
    assert cause["id"] == "package-version-mismatch"
    assert "weights_only=False" in cause["fixes"][0] and "add_safe_globals([scalar])" in cause["fixes"][1]
    assert not any("release notes" in fix for fix in cause["fixes"])
    assert "numpy.core.multiarray.scalar" in cause["evidence"][0]["text"]


def test_a_long_message_comes_to_its_point(verdict_of):
    keys = ", ".join(f'"layer{at}.weight"' for at in range(40))
    told = verdict_of(raised(f"RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: {keys}. \n"
                             "\tsize mismatch for fc.weight: copying a param with shape torch.Size([10, 5])."))
    text = told["causes"][0]["evidence"][0]["text"]
    assert '"layer2.weight" and 37 more' in text and "size mismatch for fc.weight" in text and len(text) < 400
    words = " ".join(f"option_{at}={at}" for at in range(90))
    text = verdict_of(raised(f"ValueError: {words}: remove option_17"))["causes"][0]["evidence"][0]["text"]
    assert "option_0=0" in text and "remove option_17" in text and "option_50" not in text


def test_ranks_that_fail_differently_are_one_run(verdict_of):
    told = verdict_of(
        raised("FileNotFoundError: [Errno 2] No such file or directory: 'rank0.npy'") + raised("RuntimeError: Connection reset by peer")
        + "E1118 10:00:05.000000 4242 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) local_rank: 0 (pid: 42) of binary: python\n")
    assert "runs in these files" not in told["headline"]
    assert "rank0.npy" in json.dumps(told["causes"][0])


def test_a_trackers_folder_is_its_runs(tmp_path):
    for name, last in (("run-1", 2000), ("run-2", 900)):
        files = tmp_path / "wandb" / name / "files"
        (tmp_path / "wandb" / name / "logs").mkdir(parents=True)
        files.mkdir()
        (files / "output.log").write_text(steps(last, "step {step}/2000 loss {loss:.4f}\n"))
        (files / "requirements.txt").write_text("torch==2.2\n")
        (tmp_path / "wandb" / name / "logs" / "debug.log").write_text("1 INFO [wandb_setup.py:_flush():67] x\n" + raised("OSError: no route"))
    judged_folder = subprocess.run([WHYSTOP, "why", tmp_path / "wandb"], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert "debug" not in judged_folder.stdout and "requirements" not in judged_folder.stdout
    assert judged_folder.stdout.count("output.log") + judged_folder.stdout.count("run-1") >= 1


def test_a_probe_that_a_script_left_out_is_said(watched, tmp_path):
    (tmp_path / "train.py").write_text("import time\nfor step in range(30):\n    print('step', step, 'loss', 1 / (step + 1), flush=True)\n    time.sleep(0.1)\n")
    (tmp_path / "run.sh").write_text("export PYTHONPATH=/my/code\npython3 train.py\n")
    told = watched.run("sh", "run.sh", cwd=tmp_path).verdict
    assert any("PYTHONPATH was set anew" in unknown["what"] for unknown in told["unknowns"]), told["unknowns"]
