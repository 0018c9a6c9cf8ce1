"""`--notify CMD`: the user's command is told when a run hangs, diverges or ends."""

import os
import signal
import subprocess
import time

import pytest
from conftest import TIMEOUT, WHYSTOP, whystop

# Holds what the command was given, by the event that it was given for; whole, or not there yet.
TELL = 'cat > "{0}/part"; echo "$WHYSTOP_HEADLINE|$WHYSTOP_OUTCOME|$WHYSTOP_LEARNING|$WHYSTOP_RUN" >> "{0}/part"; mv "{0}/part" "{0}/$WHYSTOP_EVENT"'


@pytest.fixture
def told(tmp_path):
    folder = tmp_path / "what was told"
    folder.mkdir()
    return folder


def wait_for(path):
    until = time.monotonic() + TIMEOUT
    while not path.exists():
        assert time.monotonic() < until, f"nothing told: {path.name}"
        time.sleep(0.1)


def test_the_end_is_told_with_the_headline_and_the_status_stays(told, tmp_path, trainer):
    run = tmp_path / "run"
    ended = whystop(
        "run", "--quiet", "--dir", run, "--notify", TELL.format(told), "--", "python3", trainer, 30, 0,
        "raise ValueError('label 10 is out of range')", check=False,
    )
    assert ended.returncode == 1
    first, second = (told / "end").read_text().splitlines()
    assert "ValueError" in first
    assert second.startswith(first) and second.split("|")[1] == "raised" and second.endswith(str(run))
    assert [path.name for path in told.iterdir()] == ["end"]


def test_a_command_that_fails_is_named_and_does_no_harm(tmp_path, trainer):
    ended = whystop(
        "run", "--dir", tmp_path / "run", "--notify", "exit 7", "--", "python3", trainer, 5, 0, "sys.exit(4)", check=False
    )
    assert ended.returncode == 4
    assert "--notify: 'exit 7' returned 7" in ended.stderr


def test_hostile_text_of_the_job_is_no_part_of_the_command(told, tmp_path, trainer):
    whystop(
        "run", "--quiet", "--dir", tmp_path / "run", "--notify", TELL.format(told), "--", "python3", trainer, 5, 0,
        "raise ValueError('`touch owned` $(touch owned); touch owned')", check=False, cwd=tmp_path,
    )
    assert "touch owned" in (told / "end").read_text()
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("event", "script"),
    [
        ("diverged", "import time\nfor i in range(10**9):\n  v = 2.0 / (i + 1) if i < 60 else float('nan')\n"
                     "  print(f'step {i}/100000 loss {v:.4f}', flush=True)\n  time.sleep(0.02)\n"),
        ("hang", "import time\nfor i in range(30):\n  print(f'step {i}/100000 loss {2.0 / (i + 1):.4f}', flush=True)\n"
                 "  time.sleep(0.02)\ntime.sleep(10**6)\n"),
    ],
)
def test_a_run_in_trouble_is_told_while_it_runs(event, script, told, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(script)
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--hang-after", "1", "--dir", tmp_path / "run", "--notify", TELL.format(told), "--",
         "python3", program],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(told / event)
        assert job.poll() is None and not (told / "end").exists()
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait(timeout=TIMEOUT)
    wait_for(told / "end")


def test_whoever_follows_a_run_can_be_told_too(told, tmp_path, trainer):
    run = tmp_path / "run"
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--dir", run, "--", "python3", trainer, "100", "0.03"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    wait_for(run / "events.tfrecord")
    followed = whystop("why", "--follow", "--notify", TELL.format(told), run, check=False)
    job.wait(timeout=TIMEOUT)
    assert followed.returncode == 0, followed.stderr
    assert "completed" in (told / "end").read_text()
    assert "▁" in followed.stdout, "the verdict has its curve"


def test_notify_without_follow_is_refused():
    refused = subprocess.run([WHYSTOP, "why", "--notify", "true"], capture_output=True, text=True, check=False, env=os.environ)
    assert refused.returncode == 2 and "--follow" in refused.stderr
