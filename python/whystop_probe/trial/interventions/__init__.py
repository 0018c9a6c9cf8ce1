"""Every intervention by its name in WHYSTOP_TRIAL; each is one small file and is imported only when asked for."""

import importlib

TABLE = {
    "anomaly": ("anomaly", "Anomaly"),
    "batch": ("batch", "Batch"),
    "batch-times": ("batch_size", "BatchTimes"),
    "bf16": ("savings", "SixteenBits"),
    "checkpoint": ("savings", "Checkpoint"),
    "clip": ("clip", "Clip"),
    "continue": ("resume", "Continue"),
    "default-init": ("default_init", "DefaultInit"),
    "drop-last": ("drop_last", "DropLast"),
    "dropout-off": ("dropout", "DropoutOff"),
    "fill-odd-values": ("odd_values", "FillOddValues"),
    "float32": ("precision", "Float32"),
    "hold-out": ("hold_out", "HoldOut"),
    "lr": ("learning_rate", "RateIs"),
    "lr-hold": ("learning_rate", "RateHeld"),
    "lr-times": ("learning_rate", "RateTimes"),
    "no-workers": ("workers", "NoWorkers"),
    "one-batch": ("one_batch", "OneBatch"),
    "patience": ("patience", "Patience"),
    "permute-labels": ("permute", "PermuteLabels"),
    "reshape-target": ("reshape_target", "ReshapeTarget"),
    "seed": ("seed", "Seed"),
    "shuffle": ("shuffle", "Shuffle"),
    "stand-in": ("stand_in", "StandIn"),
    "standardise-inputs": ("inputs", "StandardiseInputs"),
    "standardise-targets": ("targets", "StandardiseTargets"),
    "train-mode": ("train_mode", "TrainMode"),
    "undo-softmax": ("undo_softmax", "UndoSoftmax"),
    "unfreeze": ("unfreeze", "Unfreeze"),
    "weight-decay": ("weight_decay", "WeightDecay"),
    "zero-grad": ("zero_grad", "ZeroGrad"),
}


def make(name, value, torch):
    module, kind = TABLE[name]
    made = getattr(importlib.import_module(f"{__name__}.{module}"), kind)(value, torch)
    made.name = name
    return made
