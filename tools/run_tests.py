#!/usr/bin/env python3
"""Runs every test: the C++ suite, the Python suites, the C++ suite under the sanitizers. Ends with the count.

The Python suites wait a good deal, for jobs that sleep and for clocks: meanwhile the sanitizers' programs are compiled.

A test that fails is run once more when all suites are over and the machine is quiet: real kills, real training and real
clocks on a machine that others use too. If it fails again it has failed; if it passes it counts as passed, and the end of
the output names it.
`--all` adds the soaks: hundreds of kills, long fuzzing, the whole overhead check.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAYERS_WITH_THREADS = ("client", "record", "sense", "supervise", "wire")
LONGEST = ("probe", "programs", "supervise", "ends", "keras", "hang", "verdict", "try", "page")  # Of the folders of tests/.
SIDE_BY_SIDE = 2


class Suite(NamedTuple):
    """What became of the tests of a suite; `failed` has their names with the reasons, `again` runs those once more."""

    name: str
    total: int
    failed: "dict[str, str]" = {}
    skipped: int = 0
    again: "Callable[[], dict] | None" = None  # Gives those that fail this time too, as `failed` does.


def run(command: list, quiet: bool = False, **options) -> "tuple[int, str]":
    """Runs a command, showing its output as it comes, or when it has ended where it is `quiet`; returns its status and output."""
    title = "+ " + " ".join(map(str, command))
    print(title, flush=True)
    lines = []
    with subprocess.Popen(
        list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", **options
    ) as process:
        for line in process.stdout:
            lines.append(line)
            if not quiet:
                print(line, end="", flush=True)
    if quiet:
        print(f"{title}: ended\n{''.join(lines)}", end="", flush=True)
    return process.returncode, "".join(lines)


def number_before(word: str, text: str) -> int:
    found = re.findall(rf"(\d+) {word}", text)
    return int(found[-1]) if found else 0


def build_preset(preset: str, folder: str, layers: tuple = (), aside: bool = False) -> bool:
    """Builds a preset, or the unit tests of those `layers` of it; `aside`: with what others leave of the cores."""
    gently = ["nice", "-n", "15"] if aside else []
    status, _ = run(gently + ["cmake", "--preset", preset], quiet=aside)
    if status == 0:
        status, _ = run(gently + ["ninja", "-C", folder, *(f"{layer}_test" for layer in layers)], quiet=aside)
    return status == 0


def cpp_suite(preset: str, folder: str, layers: tuple = (), built: "bool | None" = None) -> Suite:
    """Builds a preset, unless that is done, and runs its unit tests; `layers` limits it to those folders of src/."""
    if not (build_preset(preset, folder, layers) if built is None else built):
        return Suite(preset, 1, {"build": "does not build"})
    only = ["-R", "^(" + "|".join(layers) + r")\."] if layers else []
    command = ["ctest", "--test-dir", folder, "--output-on-failure", "--progress", "--timeout", "300"]
    status, text = run(command + ["-j", "2"] + only)
    summary = re.search(r"(\d+) tests failed out of (\d+)", text)
    if not summary:
        return Suite(preset, 1, {"ctest": f"ended with {status}"})
    skipped = len(re.findall(r"\(Skipped\)$", text, re.MULTILINE))
    failed = ctest_failures(text)
    if status != 0 and not failed:
        return Suite(preset, int(summary.group(2)), {"ctest": f"ended with {status}"}, skipped)
    return Suite(preset, int(summary.group(2)), failed, skipped, again(command + ["--rerun-failed"], ctest_failures, failed))


def again(command: list, failures: "Callable[[str], dict]", failed: dict, **options) -> "Callable[[], dict]":
    """Runs what has failed once more; a runner that dies of it without a word has not shown that anything passes."""

    def rerun() -> dict:
        status, text = run(command, **options)
        return failures(text) or (failed if status != 0 else {})

    return rerun


def files_alone() -> Suite:
    """A file that leans on its neighbours in a batch is a failure."""
    status, text = run([sys.executable, "tools/compile_alone.py"])
    failed = {} if status == 0 else {"compile_alone.py": "a file does not compile by itself"}
    return Suite("alone", number_before("of", text), failed)


def ctest_failures(text: str) -> dict:
    """The names of the failed tests, each with what ctest's summary says of it."""
    return dict(re.findall(r"^\s+\d+ - (.+) \((?!Skipped|Disabled)([^()]+)\)$", text, re.MULTILINE))


def python_suites(everything: bool, build: str = "build", folders: tuple = ()) -> list:
    """One pytest for each folder of tests/, so that their helpers do not meet; two side by side, the longest first."""
    environment = {**os.environ, "WHYSTOP_BUILD": str(ROOT / build), "WHYSTOP_KILLS": "200" if everything else "20"}
    if everything:
        environment["WHYSTOP_ALL"] = "1"
    found = {path.parent for path in ROOT.glob("tests/*/test_*.py") if not folders or path.parent.name in folders}
    ordered = sorted(found, key=lambda folder: (folder.name not in LONGEST, LONGEST.index(folder.name) if folder.name in LONGEST else folder.name))
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(pool.map(lambda folder: python_suite(folder.relative_to(ROOT), build, environment), ordered))


def python_suite(folder: pathlib.Path, build: str, environment: dict) -> Suite:
    """The output of a suite is shown when it is over: another one runs beside it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"]
    status, text = run(command + [folder], env=environment, quiet=True)
    tail = "\n".join(text.splitlines()[-3:])
    failed = pytest_failures(text)
    if status != 0 and not failed:
        failed = {f"pytest of {folder.name}": f"ended with {status}"}
    skipped = number_before("skipped", tail)
    total = number_before("passed", tail) + skipped + len(failed)
    by_name = all("::" in name for name in failed)  # Else a whole file could not be read, or pytest itself has died.
    rerun = again(command + list(failed), pytest_failures, failed, env=environment, quiet=True) if by_name else None
    return Suite(build, total, failed, skipped, rerun)


def pytest_failures(text: str) -> dict:
    """The names of the failed tests, each with what pytest's summary says of it."""
    return dict(re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\S+(?:\[.*?\])?)?)(?: - (.*))?$", text, re.MULTILINE))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also run the soaks")
    options = parser.parse_args()
    # A shell's background or nohup ignores these for us; jobs under test must be able to die of them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    threaded = LAYERS_WITH_THREADS + (("serve",) if options.all else ())
    suites = [cpp_suite("release", "build")]
    with ThreadPoolExecutor(1) as aside:
        asan = aside.submit(build_preset, "asan", "build-asan", aside=True)
        tsan = aside.submit(build_preset, "tsan", "build-tsan", threaded, aside=True)
        suites += python_suites(options.all)
        suites.append(cpp_suite("asan", "build-asan", built=asan.result()))
        suites += python_suites(options.all, "build-asan", ("verdict",))
        suites.append(cpp_suite("tsan", "build-tsan", threaded, built=tsan.result()))
    if options.all:
        suites.append(files_alone())
    return 1 if summarize(suites) else 0


def summarize(suites: "list[Suite]") -> int:
    """Runs what failed once more, now that nothing else runs, and ends with the count; returns how many tests failed."""
    failed, unsteady = [], []
    for suite in suites:
        failed_again = suite.again() if suite.failed and suite.again else suite.failed
        for name, reason in suite.failed.items():
            known = name in failed_again
            (failed if known else unsteady).append(f"{suite.name}: {name}: {failed_again[name] if known else reason}")
    for name in unsteady:
        print(f"passed only when run again: {name}")
    for name in failed:
        print(f"failed: {name}")
    skipped = sum(suite.skipped for suite in suites)
    print(f"{sum(suite.total for suite in suites) - skipped - len(failed)} passed, {len(failed)} failed, {skipped} skipped")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
