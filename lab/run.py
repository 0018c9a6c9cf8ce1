#!/usr/bin/env python3
"""Makes labelled training runs, healthy and sick, runs each under whystop, and reports what was said of them (lab/README.md)."""

import argparse
import collections
import concurrent.futures
import datetime
import os
import pathlib
import sys
import time

import cpp_grid
from programs.catalogue import cases
from programs.fault import ALWAYS
from programs.healthy import FAMILIES
from programs.program import digest
from report import Judged, is_right, said, tables
from runner import BUILD, ROOT, TorchRunner, held_out_losses, judge, probe_hash, record
from truth import HEALTHY, SICK, UNCLEAR, held_out_state, state_of

REPORTED_FROM = 141  # Thresholds were chosen by looking at smaller seeds, and at even ones.
HEALTHY_ENOUGH = 300  # Runs; from there on only faults that do harm are recorded.
AT_ONCE = int(os.environ.get("LAB_AT_ONCE", 2))


def is_reported(seed: int) -> bool:
    return seed >= REPORTED_FROM and seed % 2 == 1


def show(done: int, total: int) -> None:
    if sys.stderr.isatty() or done % 100 == 0 or done == total:
        print(f"{done} of {total} runs", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)


def do_all(pool, work, things: list, until: float) -> None:
    """Does the work for each thing, two at once, and begins nothing after `until`."""
    def one(thing):
        if time.monotonic() < until:
            work(thing)
    for done, _ in enumerate(pool.map(one, things), 1):
        show(done, len(things))


def held_out_in(runner: TorchRunner, text: str) -> str:
    return held_out_state(held_out_losses(runner.recording_of(text)))


def state_in(runner: TorchRunner, case) -> str:
    """Sick, healthy or unclear: by what the program and its twin scored."""
    if case.label == "healthy" and case.judged == "always":
        return HEALTHY
    held_out = held_out_in(runner, case.text)
    if case.label == "overfitting":
        return SICK if held_out == SICK else UNCLEAR
    state = state_of(case.judged, runner.score(case.text), runner.score(case.twin) if case.twin else None)
    return UNCLEAR if state == HEALTHY and held_out != HEALTHY else state


def wanted(options, seed: int, counts: collections.Counter) -> list:
    """The cases of a seed, without the kinds of which there are enough."""
    only = options.only
    return [case for case in cases(range(seed, seed + 1))
            if (not only or case.label in only or case.family in only) and counts[case.family] < options.enough]


def texts_of(runner: TorchRunner, grid: list) -> list:
    """What is to be recorded: the programs and, where only they can tell their score, the twins."""
    twins = [case.twin for case in grid if case.twin and not runner.screened(case.twin)]
    return list(dict.fromkeys(twins + [case.text for case in grid]))


def screened(options, runner: TorchRunner, new: list, until: float) -> list:
    """Leaves out faults that do no harm, by a run without whystop; their twins, which have told their score by it, need not be recorded
    either. Where there are enough healthy runs neither is of use."""
    chancy = [case for case in new if case.label != "healthy" and case.judged != ALWAYS]
    if not options.judge and time.monotonic() < until:
        runner.screen([text for case in chancy for text in (case.twin, case.text) if text])
    return [case for case in new if case not in chancy or (runner.scored(case.text) and state_in(runner, case) == SICK)]


def run_grid(options, runner: TorchRunner, until: float) -> list:
    """Runs seed after seed, until there are enough runs of every kind that can be judged; returns the cases that were run."""
    counts, grid = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for seed in range(options.from_seed, options.seeds, options.stride):
            new = wanted(options, seed, counts)
            if sum(counts[family] for family in FAMILIES) >= HEALTHY_ENOUGH:
                new = screened(options, runner, new, until)
            do_all(pool, runner.run, [text for text in texts_of(runner, new) if not options.judge and not runner.is_done(text)], until)
            new = [case for case in new if all(map(runner.is_done, texts_of(runner, [case])))]
            counts.update(case.family for case in new if state_in(runner, case) == (HEALTHY if case.label == "healthy" else SICK))
            grid += new
    return grid


def torch_half(options, until: float) -> list:
    runner = TorchRunner(options.probe or probe_hash())
    grid = run_grid(options, runner, until)
    texts = texts_of(runner, grid)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = dict(zip(texts, pool.map(lambda text: judge(runner.recording_of(text)), texts)))
    judged, twins, unclear = [], set(), 0
    for case in grid:
        twin = runner.score(case.twin) if case.twin else None
        if twin and case.twin in verdicts and case.twin not in twins and twin.learned() and held_out_in(runner, case.twin) == HEALTHY:
            twins.add(case.twin)
            judged.append(Judged("healthy", "twin", (), "learning", case.seed, digest(case.twin), *verdicts[case.twin], case.made_of))
        state = state_in(runner, case)
        if state == UNCLEAR:
            unclear += 1
        elif state == SICK:
            judged.append(Judged(case.label, case.label, case.accepted, case.question, case.seed, digest(case.text), *verdicts[case.text], case.made_of))
        else:
            family = case.family if case.label == "healthy" else f"weak {case.label}"
            judged.append(Judged("healthy", family, (), "learning", case.seed, digest(case.text), *verdicts[case.text], case.made_of))
    options.notes.append(f"PyTorch: {unclear} runs were left out, neither clearly hurt nor clearly sound (a fault that does no harm, a network that does not learn).")
    if options.probe == "any":
        builds = {runner.recording_of(text).name[-8:] for text in texts}
        options.notes.append(f"The PyTorch recordings were made with {len(builds)} builds of the probe, as it was changed on the way; all are judged by one whystop.")
    return judged


def cpp_half(options, until: float) -> list:
    binary = digest(str((BUILD / "cpp_trainer").read_bytes()))
    seeds = range(options.from_seed, options.seeds, options.stride)[: options.enough]  # Each of them can be judged.
    grid = [run for run in cpp_grid.runs(seeds, 400) if not options.only or run.family in options.only]

    def one(run) -> pathlib.Path:
        return record([BUILD / "cpp_trainer", *run.arguments], f"cpp-{digest(' '.join(run.arguments))}-{binary[:8]}", {})

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        do_all(pool, one, grid, until)
        verdicts = list(pool.map(lambda run: judge(one(run)), grid))
    return [Judged(run.label, run.family, run.accepted, run.question, run.seed, " ".join(run.arguments), *verdict) for run, verdict in zip(grid, verdicts)]


def text_of(halves: dict, command: str, notes: list) -> str:
    lines = ["# The laboratory's last run", "", f"Written by `{command}` on {datetime.date.today()}; `lab/README.md` says what was run and how it is labelled.",
             f"The figures that count are those of odd seeds from {REPORTED_FROM} on; thresholds may be chosen by looking at the others.", *notes]
    for half, runs in halves.items():
        for title, reported in (("reported", True), ("for choosing", False)):
            chosen = [run for run in runs if is_reported(run.seed) == reported]
            lines += ["", f"## {half}: seeds {title}", "", tables(chosen)] if chosen else []
    return "\n".join(lines) + "\n"


def tell_misses(runs: list) -> None:
    """Not of reported seeds: nobody tunes on those."""
    for run in runs:
        if not is_reported(run.seed) and not is_right(run):
            print(f"{run.label}/{run.family} seed {run.seed} {run.name}: said {said(run)}; {run.verdict['learning']}, {run.verdict['learning_text']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 seeds, at most 14 minutes")
    parser.add_argument("--from-seed", type=int, default=REPORTED_FROM)
    parser.add_argument("--seeds", type=int, default=REPORTED_FROM + 100, help="the seed to end before")
    parser.add_argument("--stride", type=int, default=2, help="2 from an odd seed on runs only what is reported")
    parser.add_argument("--enough", type=int, default=20, help="no more seeds of a kind that has so many runs")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no run after that time; what is there is reported")
    parser.add_argument("--half", choices=("torch", "cpp", "both"), default="both")
    parser.add_argument("--only", nargs="*", help="labels or healthy families")
    parser.add_argument("--judge", action="store_true", help="run nothing new: judge again what was recorded")
    parser.add_argument("--probe", help="take recordings of the probe with this hash, or the newest of any")
    parser.add_argument("--misses", action="store_true", help="tell each wrong verdict of a seed that is not reported")
    parser.add_argument("--write", action="store_true", help="write docs/lab.md")
    options = parser.parse_args()
    options.notes = []
    if options.quick:
        options.seeds, options.minutes = REPORTED_FROM + 4, 14
    until = time.monotonic() + 60 * options.minutes
    halves = {}
    if options.half != "torch":
        halves["C++"] = cpp_half(options, until)
    if options.half != "cpp":
        halves = {"PyTorch": torch_half(options, until), **halves}
    if options.misses:
        for runs in halves.values():
            tell_misses(runs)
        return 0
    text = text_of(halves, "lab/run.py " + " ".join(sys.argv[1:]), options.notes)
    print(text)
    if options.write:
        (ROOT / "docs" / "lab.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
