"""Keras programs under the real binary: what ended them, and who is to blame. WHYSTOP_ALL=1 runs them all.

The programs of ../shared/article-programs are run where that folder is.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", HERE.parents[1] / "build")).resolve()
PYTHON = os.environ.get("WHYSTOP_PYTHON", sys.executable)
ARTICLES = HERE.parents[2] / "shared" / "article-programs"
EVERYTHING = os.environ.get("WHYSTOP_ALL") == "1"
TIMEOUT = 600  # Seconds after which something hangs.
NORMAL = {"finished-epochs", "target-reached"}

pytestmark = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")

# name: outcome, the causes of which the first to blame must be one ("-": nobody may be blamed), in `make test` too
PROGRAMS = {
    "healthy": ("completed", "-", True),
    "healthy_logits": ("completed", "-", False),
    "healthy_finite_dataset": ("completed", "-", True),
    "early_stopping": ("stopped-early", "early-stop-patience", True),
    "goal_reached": ("completed stopped-early", "target-reached", False),
    "lambda_stops": ("stopped-early", "stop-flag-callback", False),
    "callback_raises_and_is_caught": ("stopped-early", "callback-exception", True),
    "terminate_on_nan": ("stopped-early", "nan-in-data", True),
    "one_shot_generator": ("completed stopped-early", "data-ran-out", True),
    "linear_into_crossentropy": ("completed", "wrong-loss-activation", True),
    "softmax_over_one_unit": ("completed", "wrong-loss-activation", False),
    "accuracy_of_a_regression": ("completed", "metric-misread", False),
    "rate_too_high": ("completed", "lr-too-high", False),
    "sorted_without_shuffle": ("completed", "order-not-shuffled", False),
    "error_in_generator": ("raised", "uncaught-exception", False),
}
# The same of faults.py: losses and activations, what trains, plans, who stopped it, the data's own faults.
FAULTS = {
    "binary_without_sigmoid": ("completed", "wrong-loss-activation", False),
    "binary_with_sigmoid_healthy": ("completed", "-", False),
    "logits_told_of_probabilities": ("completed", "double-softmax", False),
    "softmax_and_logits_healthy": ("completed", "-", False),
    "sparse_loss_of_one_hot": ("raised", "label-type-error", True),
    "categorical_loss_of_numbers": ("raised", "label-type-error", False),
    "categorical_healthy": ("completed", "-", False),
    "softmax_over_one": ("completed", "wrong-loss-activation", False),
    "softmax_over_one_categorical": ("completed", "wrong-loss-activation", False),
    "sigmoid_against_class_numbers": ("completed", "wrong-loss-activation", False),
    "sigmoid_with_mse_healthy": ("completed", "-", False),
    "hinge_of_zero_and_one_healthy": ("completed", "-", False),
    "hinge_by_hand": ("completed", "wrong-loss-activation", True),
    "hinge_by_hand_healthy": ("completed", "-", False),
    "targets_no_distribution": ("completed", "wrong-loss-activation", False),
    "soft_targets_healthy": ("completed", "-", False),
    "several_marks_healthy": ("completed", "-", False),
    "hinge_of_a_sigmoid_healthy": ("completed", "-", False),
    "thawed_without_compiling": ("completed", "frozen-params", False),
    "everything_frozen": ("completed", "frozen-params", False),
    "thawed_and_compiled_healthy": ("completed", "-", False),
    "weights_skipped": ("completed", "weights-not-loaded", True),
    "weights_loaded_healthy": ("completed", "-", False),
    "too_few_steps": ("completed", "not-enough-steps", False),
    "regression_with_accuracy": ("completed", "metric-misread", False),
    "regression_healthy": ("completed", "-", False),
    "class_weights_of_nothing": ("completed", "class-imbalance", True),
    "class_weights_leave_one_out": ("completed", "class-imbalance", False),
    "class_weights_swapped": ("completed", "class-imbalance", False),
    "class_weights_healthy": ("completed", "-", False),
    "split_of_sorted": ("completed", "order-not-shuffled", False),
    "split_of_mixed_healthy": ("completed", "-", False),
    "rate_at_its_floor": ("completed", "lr-zero", False),
    "own_callback_stops": ("stopped-early", "stop-flag-callback", False),
    "callback_raises": ("raised", "callback-exception", False),
    "dataset_ran_out": ("stopped-early", "data-ran-out", False),
    "pydataset_raises": ("raised", "data-file-corrupt", False),
    "tape_healthy": ("completed", "-", False),
    "legacy_healthy": ("completed", "-", False),
    "legacy_dataset_ran_out": ("stopped-early", "data-ran-out", False),
    "legacy_early_stopping": ("stopped-early", "early-stop-patience", False),
    "legacy_tape": ("completed", "-", False),
}
# The same of learning.py: what keeps a model from learning, and its healthy twins.
LEARNING = {
    "cut_in_call": ("completed", "frozen-or-detached", True),
    "cut_in_graph": ("completed", "frozen-or-detached", False),
    "cut_in_tape": ("completed", "frozen-or-detached", False),
    "straight_through_healthy": ("completed", "-", False),
    "head_without_loss_healthy": ("completed", "-", False),
    "gradients_of_another_model": ("completed", "optimizer-wrong-params", True),
    "gradients_of_a_copy_healthy": ("completed", "-", False),
    "penalty_outweighs": ("completed", "over-regularised", True),
    "penalty_healthy": ("completed", "-", False),
    "norm_of_one_sample": ("completed", "bn-small-batch", True),
    "norm_of_one_sample_in_fit": ("completed", "bn-small-batch", False),
    "norm_healthy": ("completed", "-", False),
    "one_step_an_epoch": ("completed", "not-enough-steps", True),
    "one_step_of_many_an_epoch": ("completed", "not-enough-steps", False),
    "one_step_an_epoch_healthy": ("completed", "-", False),
    "rare_class_in_a_pipeline": ("completed", "class-imbalance", True),
    "rare_class_healthy": ("completed", "-", False),
    "split_leaves_a_few": ("completed", "order-not-shuffled", False),
    "split_with_a_rare_class_healthy": ("completed", "-", False),
    "coin_labels": ("completed", "labels-random labels-misaligned", False),
    "weighed_samples_healthy": ("completed", "-", False),
    "worker_raises": ("raised", "dataloader-worker-exception", True),
}
# The same of on_torch.py.
ON_TORCH = {
    "never_cleared": ("completed", "missing-zero-grad", True),
    "cleared_healthy": ("completed", "-", False),
    "cleared_by_hand_healthy": ("completed", "-", False),
}
# The same of on_jax.py.
ON_JAX = {
    "masked_altogether": ("completed", "masked-softmax-nan", True),
    "masked_in_part_healthy": ("completed", "-", False),
}
BACKENDS = {"on_torch.py": "torch", "on_jax.py": "jax"}
FILES = {"on_torch.py": ON_TORCH, "on_jax.py": ON_JAX, "programs.py": PROGRAMS, "faults.py": FAULTS, "learning.py": LEARNING}


def judge(command, folder, environment=()):
    variables = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **dict(environment)}
    subprocess.run([BUILD / "whystop", "run", "--dir", folder, "--", PYTHON, *command], capture_output=True, timeout=TIMEOUT,
                   stdin=subprocess.DEVNULL, check=False, env=variables, cwd=folder.parent)
    why = subprocess.run([BUILD / "whystop", "why", "--json", folder], capture_output=True, timeout=TIMEOUT, check=False)
    assert why.returncode in (0, 1, 3), why.stderr.decode()
    return json.loads(why.stdout)


def roots(verdict):
    return [cause["id"] for cause in verdict["causes"] if cause["role"] == "root"]


@pytest.mark.parametrize("file,name", [(file, name) for file, rows in FILES.items() for name, row in rows.items() if EVERYTHING or row[2]])
def test_program(file, name, tmp_path):
    """Goal: the outcome is right, and the first root that blames somebody is the true one."""
    outcome, cause, _ = FILES[file][name]
    environment = {"KERAS_BACKEND": BACKENDS[file]} if file in BACKENDS else {}
    verdict = judge([HERE / file, name], tmp_path / "run", environment)
    found = roots(verdict)
    assert verdict["outcome"] in outcome.split(), found
    if cause == "-":
        assert not [item for item in found if item not in NORMAL]
    else:
        assert set(cause.split()) & set(found), found


@pytest.mark.skipif(not EVERYTHING, reason="one of the matrix")
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_other_backends_are_told_once(backend, tmp_path):
    """Goal: Keras on another backend has one verdict, and the framework below it keeps silent."""
    verdict = judge([HERE / "programs.py", "early_stopping"], tmp_path / "run", {"KERAS_BACKEND": backend})
    assert verdict["outcome"] == "stopped-early"
    assert roots(verdict) == ["early-stop-patience"]
    inspected = subprocess.run([BUILD / "whystop", "inspect", tmp_path / "run"], capture_output=True, check=False, text=True)
    kinds = [json.loads(line).get("what") for line in inspected.stdout.splitlines() if '"observation"' in line]
    assert kinds.count("model") == 1 and kinds.count("framework") == 1 and kinds.count("no-training") == 0


def articles():
    if not (ARTICLES / "TRUTH.tsv").exists():
        return []
    rows = [line.split("\t") for line in (ARTICLES / "TRUTH.tsv").read_text().splitlines()[1:]]
    return [row for row in rows if "_keras_" in row[0] and row[1] == "-" and (EVERYTHING or "resource" in row[0] or "callback" in row[0])]


@pytest.mark.parametrize("row", articles() or [None], ids=lambda row: row[0] if row else "absent")
def test_article_program(row, tmp_path):
    """Goal: the programs that started this project are judged right; those with a memory limit are run elsewhere."""
    if row is None:
        pytest.skip("../shared/article-programs is not here")
    name, _, outcomes, learning, causes, never, _ = row
    verdict = judge([ARTICLES / name], tmp_path / "run")
    found = [cause["id"] for cause in verdict["causes"]]
    blamed = [cause for cause in found if cause not in NORMAL]
    assert verdict["outcome"] in outcomes.split("|")
    assert learning == "any" or verdict["learning"] in learning.split("|")
    assert set(blamed) & set(causes.split("|")) or ("-" in causes.split("|") and not blamed), found
    assert not set(found) & set(never.split("|"))
