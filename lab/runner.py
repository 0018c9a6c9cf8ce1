"""Runs programs under whystop and keeps what came of them, so that a second look costs nothing.

A recording is kept by the hashes of the program and of the probe; it is judged again by the whystop of today each time.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import Optional

from programs.program import digest
from truth import Score

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
STORE = BUILD / "lab"
DATA_SETS = ("digits", "iris", "wine", "breast_cancer", "diabetes")
RUN_SECONDS_MAX = 600
REBUILD_SECONDS_MAX = 120


def probe_hash() -> str:
    files = sorted((ROOT / "python" / "whystop_probe").rglob("*.py")) + sorted((ROOT / "python" / "whystop_probe").glob("*.c"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


def export_data() -> None:
    """scikit-learn's data as files, so that no program has to import it."""
    folder = STORE / "programs" / "data"
    if all((folder / f"{name}.npz").exists() for name in DATA_SETS):
        return
    import numpy
    from sklearn import datasets
    folder.mkdir(parents=True, exist_ok=True)
    for name in DATA_SETS:
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        numpy.savez(folder / f"{name}.npz", x=x, y=y)


def whystop(arguments: list, **options) -> subprocess.CompletedProcess:
    """Somebody may be building it just now: then it is there again soon."""
    for _ in range(REBUILD_SECONDS_MAX):
        try:
            return subprocess.run([BUILD / "whystop", *arguments], check=False, **options)
        except OSError:
            time.sleep(1)
    raise FileNotFoundError(BUILD / "whystop")


def record(command: list, key: str, environment: dict) -> pathlib.Path:
    """The recording of this command, made now unless it is there already."""
    recording = STORE / "recordings" / key
    if (recording / "done").exists():
        return recording
    shutil.rmtree(recording, ignore_errors=True)
    recording.parent.mkdir(parents=True, exist_ok=True)
    try:
        whystop(["run", "--quiet", "--dir", recording, "--", *command], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=RUN_SECONDS_MAX,
                env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    except subprocess.TimeoutExpired:
        return recording
    shutil.rmtree(recording / "rings", ignore_errors=True)  # Their content is in the recording; they are large.
    if (recording / "events.tfrecord").exists():
        (recording / "done").touch()
    return recording


def verdict_of(recording: pathlib.Path) -> dict:
    judged = whystop(["why", "--json", recording], capture_output=True)
    return json.loads(judged.stdout)


def held_out_losses(recording: pathlib.Path) -> list:
    """As the program printed them."""
    printed = whystop(["inspect", "--output", recording], capture_output=True).stdout.decode(errors="replace")
    return [float(value) for value in re.findall(r"\bval_loss ([0-9.]+)", printed)]


def detectors_of(recording: pathlib.Path) -> set:
    """The detectors that found something in it; those that tell a state, with the state."""
    printed = whystop(["inspect", "--findings", recording], capture_output=True).stdout
    findings = [json.loads(line) for line in printed.splitlines()]
    return {": ".join(filter(None, (finding["detector"], finding["facts"].get("state")))) for finding in findings}


def judge(recording: pathlib.Path) -> tuple:
    return verdict_of(recording), detectors_of(recording)


class TorchRunner:
    def __init__(self, probe: str):
        self.probe = probe
        export_data()

    def recording_of(self, text: str) -> pathlib.Path:
        folder = STORE / "recordings"
        if self.probe == "any":
            done = [path for path in folder.glob(f"{digest(text)}-????????") if (path / "done").exists()]
            return max(done, key=lambda path: (path / "done").stat().st_mtime, default=folder / f"{digest(text)}-none")
        return folder / f"{digest(text)}-{self.probe}"

    def is_done(self, text: str) -> bool:
        return (self.recording_of(text) / "done").exists()

    def screen(self, texts: list) -> None:
        """Runs these without whystop, so that their scores are known."""
        new = [str(self.script_of(text)) for text in dict.fromkeys(texts) if not self.scored(text)]
        subprocess.run([sys.executable, ROOT / "lab" / "screen.py"], input="\n".join(new), text=True, check=True,
                       env={**os.environ, "OMP_NUM_THREADS": "1"})

    def screened(self, text: str) -> bool:
        return self.script_of(text).with_suffix(".screened").exists()

    def scored(self, text: str) -> bool:
        return self.is_done(text) or self.screened(text)

    def script_of(self, text: str) -> pathlib.Path:
        script = STORE / "programs" / f"{digest(text)}.py"
        if not script.exists():
            script.write_text(text)
        return script

    def run(self, text: str) -> pathlib.Path:
        script = self.script_of(text)
        recording = STORE / "recordings" / f"{digest(text)}-{probe_hash()}"
        score = recording.parent / f"{recording.name}.score"
        return record([sys.executable, script], recording.name, {"LAB_SCORE": str(score)})

    def score(self, text: str) -> Optional[Score]:
        path = self.recording_of(text).parent / f"{self.recording_of(text).name}.score"
        if not self.is_done(text):
            path = self.script_of(text).with_suffix(".screened")
        if not path.exists() or not path.read_text().strip():
            return None
        return Score(*map(float, path.read_text().split()))
