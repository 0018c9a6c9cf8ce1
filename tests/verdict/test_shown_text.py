"""Names, command lines and output that would command a terminal: of no command does such a character reach the screen."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest
from conftest import TIMEOUT, WHYSTOP

# A title and a colour by ESC, a colour by U+009B, a text that reads backwards, bell, backspace, a line written over.
HOSTILE = "E\x1b]0;owned\x07\x1b[31m\u009b31m\u202egpj\u2066\u200f\x08\rX"
COMMANDS_OF_TERMINALS = (
    {chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))} - {"\n"}
)

PROGRAM = """
import sys
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.reconfigure(encoding="utf-8")
hostile = HOSTILE.replace("\\r", "")
for step in range(30):
    print(f"step {step} loss {1 / (step + 1)} {hostile}_acc: {step / 40} val{hostile}_loss={step}")
raise ValueError("no " + hostile)
"""
WAITING = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
exec(compile("def waits():\\n    time.sleep(1000)\\nwaits()", sys.argv[2], "exec"))
"""


def hostile_characters(shown: bytes) -> list:
    text = shown.decode()  # What is no UTF-8 would be shown as whatever the terminal makes of it.
    return sorted({hex(ord(one)) for one in text if one in COMMANDS_OF_TERMINALS})


def tell(home, *arguments, **options):
    environment = {**os.environ, "WHYSTOP_HOME": str(home), "SLURM_JOB_ID": HOSTILE, "LC_ALL": "C.UTF-8"}
    return subprocess.run([WHYSTOP, *map(str, arguments)], capture_output=True, timeout=TIMEOUT, check=False, stdin=subprocess.DEVNULL,
                          env=environment, **options)


@pytest.fixture(scope="module", name="home")
def home_with_a_hostile_run(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    program = home.parent / f"train {HOSTILE}.py".replace("/", "")
    program.write_text(PROGRAM.replace("HOSTILE", ascii(HOSTILE)))
    ran = tell(home, "run", "--dir", home / f"run {HOSTILE}", "--", sys.executable, program, "--name", HOSTILE)
    assert b"ValueError" in ran.stderr
    ours = [line for line in ran.stderr.split(b"\n") if line.startswith((b"whystop", b"  details"))]
    assert len(ours) >= 2 and hostile_characters(b"\n".join(ours)) == []
    return home


@pytest.mark.parametrize("command", [
    "why", "why --json", "why --follow", "inspect", "inspect --findings", "inspect --ranking", "inspect --signs", "export --format csv",
    "export --format jsonl", "report -o -", "top",
])
def test_what_is_told_of_a_run(home, command):
    told = tell(home, *command.split(), *home.glob("run *"))
    shown = told.stdout.replace(b"\r\n", b"\n") if "csv" in command else told.stdout
    assert len(shown) > 100
    assert hostile_characters(shown + told.stderr) == []


@pytest.mark.parametrize("command", ["runs", "runs --json", "prune --dry-run --keep 0", "doctor", "doctor --json"])
def test_what_is_told_of_all(home, command):
    told = tell(home, *command.split())
    assert len(told.stdout) > 100 and hostile_characters(told.stdout + told.stderr) == []


@pytest.mark.parametrize("words", [
    "HOSTILE", "--HOSTILE", "why HOSTILE", "why --HOSTILE", "report HOSTILE", "export --format HOSTILE RUN", "inspect HOSTILE", "top HOSTILE",
    "serve --port HOSTILE", "attach HOSTILE", "runs HOSTILE", "prune --older HOSTILE", "try HOSTILE", "fit HOSTILE", "explain HOSTILE",
    "completion HOSTILE", "run --max-size HOSTILE -- true", "run -- HOSTILE", "install-hook HOSTILE", "install-kernel HOSTILE", "doctor HOSTILE",
    "report RUN -o /nowhere/HOSTILE", "export --format csv RUN -o /nowhere/HOSTILE",
])
def test_what_is_refused(home, words):
    told = tell(home, *[next(home.glob("run *")) if word == "RUN" else word.replace("HOSTILE", HOSTILE) for word in words.split()])
    assert told.returncode not in (0, 1) and len(told.stderr) > 20
    assert hostile_characters(told.stdout + told.stderr) == []


def test_what_is_told_of_a_living_process(home, tmp_path):
    begun = tmp_path / "begun"
    with subprocess.Popen([sys.executable, "-c", WAITING, begun, f"of {HOSTILE}.py"], stdin=subprocess.DEVNULL) as living:
        try:
            while not begun.exists():
                time.sleep(0.01)
            told = tell(home, "attach", "--looks", "1", living.pid)
        finally:
            living.kill()
    assert b"waits" in told.stdout, told
    assert hostile_characters(told.stdout + told.stderr) == []


def test_what_is_served(home, tmp_path):
    shutil.copytree(next(home.glob("run *")), tmp_path / "home" / "plain")  # No address names a run by control characters.
    environment = {**os.environ, "WHYSTOP_HOME": str(tmp_path / "home")}
    with subprocess.Popen([WHYSTOP, "serve", "--json", "--port", "0"], stdout=subprocess.PIPE, env=environment) as serving:
        try:
            url = urllib.parse.urlsplit(json.loads(serving.stdout.readline())["url"])
            token = urllib.parse.parse_qs(url.query)["token"][0]
            for path in ("/api/runs", "/api/run?id=plain", "/metrics"):
                asked = urllib.request.Request(f"http://{url.netloc}{path}", headers={"Authorization": f"Bearer {token}"})
                with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
                    assert hostile_characters(answer.read()) == [], path
        finally:
            serving.send_signal(signal.SIGINT)
