"""Tables of a set of judged runs: what was said of each label, precision and recall, false alarms by family and by cause."""

import collections
import math
from typing import List, NamedTuple


class Judged(NamedTuple):
    label: str       # The fault, or "healthy"
    family: str
    accepted: tuple  # Causes that may be named first; empty: none may be blamed
    question: str    # learning: the first root that blames; stop: the first that explains the end; any: among the roots and what contributes
    seed: int
    name: str        # Of the program, to find it again
    verdict: dict
    detectors: set   # Those that found something
    made_of: tuple = ()  # Task, model and style of loop of the program


def said(run: Judged) -> str:
    """The cause that counts as the answer."""
    causes = run.verdict["causes"]
    roots = [cause for cause in causes if cause["role"] == "root"]
    if run.question == "any":
        named = [cause["id"] for cause in causes if cause["role"] in ("root", "contributing") and cause["fault"]]
        return next((name for name in named if name in run.accepted), named[0] if named else "-")
    if run.question == "stop" and run.accepted:
        return next((cause["id"] for cause in roots if cause["answers"] == "stop" or cause["id"] in run.accepted), "-")
    return next((cause["id"] for cause in roots if cause["fault"]), "-")


def is_right(run: Judged) -> bool:
    return said(run) in run.accepted if run.accepted else said(run) == "-"


def is_exact(run: Judged) -> bool:
    """The label itself, and not another cause that the physics does not tell from it."""
    return said(run) == run.label if run.accepted else is_right(run)


def confidence(run: Judged) -> str:
    """Of the cause that was said; "-": none was."""
    return next((cause["confidence"] for cause in run.verdict["causes"] if cause["id"] == said(run)), "-")


def wilson(hits: int, count: int) -> tuple:
    """95 % interval of a share."""
    if count == 0:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(hits: int, count: int) -> str:
    low, high = wilson(hits, count)
    return f"{low:.1%} to {high:.1%}"


def _labels(sick: List[Judged]) -> List[str]:
    lines = ["| label | runs | right | 95 % interval | precision | said |", "| --- | --- | --- | --- | --- | --- |"]
    by_label = collections.defaultdict(list)
    for run in sick:
        by_label[run.label].append(run)
    for label, runs in sorted(by_label.items()):
        hits = sum(map(is_right, runs))
        named = [run for run in sick if said(run) == label]
        precision = f"{sum(map(is_right, named)) / len(named):.0%}" if named else "-"
        words = ", ".join(f"{name} {times}" for name, times in collections.Counter(map(said, runs)).most_common())
        lines.append(f"| {label} | {len(runs)} | {hits / len(runs):.0%} | {interval(hits, len(runs))} | {precision} | {words} |")
    return lines


def _families(healthy: List[Judged]) -> List[str]:
    lines = ["| healthy family | runs | blamed | 95 % interval | for |", "| --- | --- | --- | --- | --- |"]
    for family in sorted({run.family for run in healthy}):
        runs = [run for run in healthy if run.family == family]
        alarms = [run for run in runs if not is_right(run)]
        words = ", ".join(f"{name} {times}" for name, times in collections.Counter(map(said, alarms)).most_common())
        lines.append(f"| {family} | {len(runs)} | {len(alarms)} | {interval(len(alarms), len(runs))} | {words} |")
    return lines


def _calibration(runs: List[Judged]) -> List[str]:
    """What a word of confidence is worth: of what was called so, how much was right. A healthy run that was blamed counts as wrong."""
    bars = {"certain": "97 %", "likely": "80 %", "possible": "50 %"}
    lines = ["| said to be | causes | right | 95 % interval | meant |", "| --- | --- | --- | --- | --- |"]
    for word, bar in bars.items():
        named = [run for run in runs if confidence(run) == word and said(run) != "-" and run.question != "stop"]
        hits = sum(bool(run.accepted) and is_right(run) for run in named)
        share = f"{hits / len(named):.0%}" if named else "-"
        lines.append(f"| {word} | {len(named)} | {share} | {interval(hits, len(named))} | at least {bar} |")
    return lines


def _programs(runs: List[Judged]) -> List[str]:
    """By what the programs are made of. Weights are constants that are fitted on nothing, so the figure of a family is that of a family left out."""
    lines = ["| family of programs | sick | the label itself | it or one not told from it | healthy | blamed |", "| --- | --- | --- | --- | --- | --- |"]
    for place, part in enumerate(("task", "model", "style")):
        for family in sorted({run.made_of[place] for run in runs if run.made_of}):
            of = [run for run in runs if run.made_of and run.made_of[place] == family]
            sick = [run for run in of if run.label != "healthy" and run.question != "stop"]
            healthy = [run for run in of if run.label == "healthy"]
            lines.append(f"| {part}: {family} | {len(sick)} | {sum(map(is_exact, sick))} | {sum(map(is_right, sick))} | {len(healthy)} "
                         f"| {sum(not is_right(run) for run in healthy)} |")
    return lines if len(lines) > 2 else []


def _alarms(healthy: List[Judged]) -> List[str]:
    """By cause, wherever in the verdict it stands: also what does not come first blames."""
    counts = collections.Counter(cause["id"] for run in healthy for cause in run.verdict["causes"] if cause["fault"])
    lines = ["| cause named of a healthy run, in any place | runs | rate | 95 % interval |", "| --- | --- | --- | --- |"]
    for cause, times in counts.most_common():
        lines.append(f"| {cause} | {times} | {times / len(healthy):.1%} | {interval(times, len(healthy))} |")
    return lines if counts else ["No cause was named of a healthy run, in any place."]


def _detectors(sick: List[Judged], healthy: List[Judged]) -> List[str]:
    """A finding blames nobody (a loss that has come to rest is one); a cause needs more. But it should be rare where nothing is wrong."""
    lines = ["| detector | healthy runs with a finding | rate | 95 % interval | sick runs with one |", "| --- | --- | --- | --- | --- |"]
    counts = collections.Counter(name for run in healthy for name in run.detectors)
    others = collections.Counter(name for run in sick for name in run.detectors)
    for name in sorted(counts | others, key=lambda name: (-counts[name], name)):
        rate = counts[name] / max(len(healthy), 1)
        lines.append(f"| {name} | {counts[name]} | {rate:.1%} | {interval(counts[name], len(healthy))} | {others[name]} |")
    return lines


def tables(runs: List[Judged]) -> str:
    sick = [run for run in runs if run.label != "healthy"]
    healthy = [run for run in runs if run.label == "healthy"]
    hits, alarms = sum(map(is_right, sick)), sum(not is_right(run) for run in healthy)
    learning = [run for run in sick if run.question != "stop"]
    exact, lenient = sum(map(is_exact, learning)), sum(map(is_right, learning))
    lines = [f"Sick runs: root cause right in {hits} of {len(sick)} ({hits / max(len(sick), 1):.1%}, 95 % interval {interval(hits, len(sick))}).",
             f"Without those that are about the end of a run: the label itself in {exact} of {len(learning)} ({exact / max(len(learning), 1):.1%}), "
             f"it or a cause that cannot be told from it in {lenient} ({lenient / max(len(learning), 1):.1%}).",
             f"Healthy runs: {alarms} of {len(healthy)} blamed ({alarms / max(len(healthy), 1):.1%}, 95 % interval {interval(alarms, len(healthy))}).",
             "", *_calibration(runs), "", *_programs(runs), "", *_labels(sick), "", *_families(healthy), "", *_alarms(healthy),
             "", *_detectors(sick, healthy)]
    return "\n".join(lines)
