"""Secrets that a job prints or is started with: nothing that shows or exports a run may tell them."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest
from conftest import TIMEOUT, WHYSTOP

SECRETS = {
    "in the command": "hunter2-of-the-command",
    "in a log line": "hunter2OfTheLog",
    "in an address": "hunter2OfTheAddress",
    "in an exception": "hf_AbCdEfGhIjKlMnOpQrStUv",
    "in an option": "hunter2OfTheOption",
    "in the source": "hunter2OfTheSource",
}
PROGRAM = """
import sys
api_key = "{in the source}"
print("db_password={in a log line} epoch 1 loss 0.5", flush=True)
print("fetching https://me:{in an address}@host/data", flush=True)
print("+ torchrun --wandb-api-key {in an option} train.py", flush=True)
raise RuntimeError("401 for token {in an exception}"); api_key = "{in the source}"
"""


@pytest.fixture
def leaky(watched):
    program = watched.folder.parent / "train.py"
    text = PROGRAM
    for name, secret in SECRETS.items():
        text = text.replace("{" + name + "}", secret)
    program.write_text(text)
    watched.run("python3", program, "--db-pass", SECRETS["in the command"])
    return watched.folder


def tell(*arguments):
    return subprocess.run([WHYSTOP, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, check=False).stdout


def leaked(text):
    return [name for name, secret in SECRETS.items() if secret in text]


@pytest.mark.parametrize("command", [["why"], ["why", "--json"], ["inspect"], ["inspect", "--findings"]])
def test_what_is_printed(leaky, command):
    shown = tell(*command, leaky)
    assert shown and leaked(shown) == []


def test_the_report(leaky, tmp_path):
    page = tmp_path / "page.html"
    subprocess.run([WHYSTOP, "report", "-o", page, leaky], capture_output=True, check=True, timeout=TIMEOUT)
    text = page.read_text()
    assert "***" in text and leaked(text) == []


def test_the_exports(leaky, tmp_path):
    for form in ("csv", "jsonl"):
        assert leaked(tell("export", "--format", form, leaky)) == []
    database = tmp_path / "run.sqlite"
    subprocess.run([WHYSTOP, "export", "--format", "sqlite", "-o", database, leaky], capture_output=True, check=True, timeout=TIMEOUT)
    with sqlite3.connect(database) as opened:
        assert leaked("".join(opened.iterdump())) == []


def test_the_server(leaky):
    environment = {**os.environ, "WHYSTOP_HOME": str(leaky.parent)}
    with subprocess.Popen([WHYSTOP, "serve", "--json", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment) as serving:
        try:
            url = urllib.parse.urlsplit(json.loads(serving.stdout.readline())["url"])
            token = urllib.parse.parse_qs(url.query)["token"][0]

            def ask(path):
                asked = urllib.request.Request(f"http://{url.netloc}{path}", headers={"Authorization": f"Bearer {token}"})
                with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
                    return answer.read().decode()

            listing, run = ask("/api/runs"), ask(f"/api/run?id={leaky.name}")
        finally:
            serving.send_signal(signal.SIGINT)
    assert "raised" in listing and "***" in run
    assert leaked(listing + run) == []


# Values of variables that are recorded, of others, and of an `env` or a shell in front of the program.
IN_THE_ENVIRONMENT = {
    "OPENAI_API_KEY": "hunter2-of-a-key",
    "DATABASE_URL": "postgres://me:hunter2-of-a-database@host/db",
    "SLURM_JOB_NAME": "train --password=hunter2-of-a-name",
    "SLURM_JOB_TOKEN": "hunter2-of-a-token",
    "PBS_JOBNAME": "https://me:hunter2-of-an-address@host",
    "CUDA_VISIBLE_DEVICES": "hf_AbCdEfGhIjKlMnOpQrStUvhunter2",
}
STARTS_OTHERS = """
import subprocess, sys
subprocess.run(["env", "DB_PASSWORD=hunter2-of-env", "sh", "-c", "sleep 1.2; true", "--api-key", "hunter2-of-a-child"])
sys.exit(3)
"""


def all_bytes(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_environment_is_nowhere(watched, tmp_path):
    environment = {**os.environ, **IN_THE_ENVIRONMENT, "WHYSTOP_HOME": str(tmp_path)}
    program = tmp_path / "train.py"
    program.write_text(STARTS_OTHERS)
    watched.run("env", "WANDB_API_KEY=hunter2-of-the-command", sys.executable, program, env=environment)
    assert watched.done.returncode == 3
    assert b"hunter2" not in all_bytes(watched.folder), "not even in the recording's files"
    for command in (["why", "--json", watched.folder], ["inspect", watched.folder], ["runs"], ["top", watched.folder], ["report", "-o", "-", watched.folder],
                    ["doctor"], ["doctor", "--json"]):
        told = subprocess.run([WHYSTOP, *map(str, command)], capture_output=True, timeout=TIMEOUT, check=False, env=environment)
        assert told.stdout and b"hunter2" not in told.stdout + told.stderr, command


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_look_at_a_process_hides_its_secrets(form, tmp_path):
    begun = tmp_path / "begun"
    program = tmp_path / "waits.py"
    program.write_text(f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(1000)\n")
    with subprocess.Popen([sys.executable, program, "--db-pass", "hunter2", "--token=hunter2"]) as living:
        try:
            while not begun.exists():
                time.sleep(0.01)
            told = subprocess.run([WHYSTOP, "attach", "--looks", "1", *form, str(living.pid)], capture_output=True, timeout=TIMEOUT, check=False)
        finally:
            living.kill()
    assert b"waits.py" in told.stdout and b"--token=***" in told.stdout
    assert b"hunter2" not in told.stdout + told.stderr
