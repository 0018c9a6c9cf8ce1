"""Ways in which a program ends itself, well or badly, and memory that grows."""

from programs.fault import ALWAYS, Fault, set_rate

STOP = dict(kinds=("classes", "classes", "regression", "images"), schedules=("none",), styles=("script", "manual", "trainer"))


def patience(program, rng):
    count = rng.choice([1, 2, 3])
    watched = "val_loss" if rng.random() < 0.7 else "LOSS.item()"
    counter, limit = rng.choice([("wait", "patience"), ("counter", "early_stopping_patience"), ("bad_epochs", "patience")])
    program.epochs = 400
    program.add("before_loop", f"best, {counter}, {limit} = float('inf'), 0, {count}")
    program.add("epoch_end", f"if {watched} < best - 0.001:", f"    best, {counter} = {watched}, 0", "else:", f"    {counter} += 1",
                f"    if {counter} >= {limit}:", "        " + rng.choice(["print('early stopping'); break", "break"]))


def nan_guard(program, rng):
    set_rate(program, rng.choice([1e4, 1e6]))
    program.add("loss_line", rng.choice(["if torch.isnan(LOSS) or torch.isinf(LOSS):", "if not math.isfinite(LOSS.item()):"]),
                "    " + rng.choice(["raise SystemExit('loss is not finite')", "raise SystemExit(1)"]))


def exhausted(program, rng):
    """An iterator that was made once is empty from the second epoch on."""
    program.style = "cycle-once"
    program.facts["steps"] = 10 * program.epochs * -(-program.facts["count"] // program.batch)


def swallowed(program, rng):
    at = rng.choice([1, 2])
    error = rng.choice(["raise RuntimeError('CUDA error: out of memory')", "raise ValueError('could not read sample 17')", "[][3]"])
    program.first("batch", f"if epoch >= {at}:", "    " + error)
    handler = rng.choice(["except Exception:", "except Exception as error:"])
    program.facts["guard"] = (handler, rng.choice(["break", "pass"]))


def early_return(program, rng):
    program.add("epoch_end", f"if epoch >= {max(1, program.epochs // 3)}:", "    break")


def already_complete(program, rng):
    program.add("before_loop", f"state = {{'epoch': {program.epochs}, 'model': MODEL.state_dict()}}", "MODEL.load_state_dict(state['model'])",
                "start_epoch = state['epoch']", "print('resumed from epoch', start_epoch)")
    program.epochs_text = f"for epoch in range(start_epoch, {program.epochs}):"


def target(program, rng):
    goal = {"regression": 0.6}.get(program.facts["kind"], 0.5)
    program.epochs = 200
    program.add("epoch_end", *rng.choice([[f"if LOSS.item() < {goal}:", "    print('goal reached')", "    break"],
                                          [f"target_loss = {goal}", "if LOSS.item() <= target_loss:", "    break"]]))


def epochs_done(program, rng):
    program.epochs = max(3, program.epochs // rng.choice([2, 4]))


def max_steps(program, rng):
    limit = program.epochs * -(-program.facts["count"] // program.batch) // 2
    program.add("before_loop", f"max_steps, global_step, done = {limit}, 0, False")
    program.add("after_step", "global_step += 1", "if global_step >= max_steps:", "    done = True", "    break")
    program.add("epoch_end", "if done:", "    break")


def leak(program, rng):
    how = rng.choice(["sum", "list"])
    if how == "sum":
        program.add("before_loop", "running = 0")
        program.add("after_step", "running = running + LOSS")
    else:
        program.add("before_loop", "history = []")
        program.add("after_step", "history.append(LOSS)")
    program.facts["width"] = 128


FAULTS = (
    Fault("early-stop-patience", ("early-stop-patience", "overfitting"), patience, {**STOP, "validate": True}, ALWAYS, "stop"),
    Fault("stop-on-nan", ("stop-on-nan", "lr-too-high", "exploding-gradient"), nan_guard,
          {**STOP, "optimizers": ("SGD", "momentum"), "models": ("mlp", "linear"), "kinds": ("regression",), "regression_losses": ("MSELoss",)}, ALWAYS, "stop"),
    Fault("iterable-exhausted", ("iterable-exhausted", "data-ran-out"), exhausted, {**STOP, "logs": ("silent", "steps"), "validate": False}, ALWAYS, "stop"),
    Fault("swallowed-exception", ("swallowed-exception",), swallowed, {**STOP, "styles": ("script", "trainer")}, ALWAYS, "stop"),
    Fault("premature-return", ("premature-return",), early_return, {**STOP, "epochs_min": 8}, ALWAYS, "stop"),
    Fault("resume-already-complete", ("resume-already-complete",), already_complete, {**STOP, "styles": ("script", "manual")}, ALWAYS, "stop"),
    Fault("target-reached", ("target-reached",), target, STOP, ALWAYS, "stop"),
    Fault("finished-epochs", ("finished-epochs",), epochs_done, STOP, ALWAYS, "stop"),
    Fault("finished-max-steps", ("finished-max-steps",), max_steps, {**STOP, "styles": ("script", "manual")}, ALWAYS, "stop"),
    Fault("retained-graph", ("gpu-leak-retained-graph", "host-mem-leak"), leak, {**STOP, "models": ("mlp",), "kinds": ("classes",)}, ALWAYS, "any"),
)
