"""The live view and the verdict in a terminal of 80 columns, as tmux shows them."""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from conftest import TIMEOUT, WHYSTOP, whystop


class Tmux:
    """A terminal of 80 columns and 24 lines."""

    def __init__(self, socket):
        self.base = ["tmux", "-f", "/dev/null", "-S", str(socket)]

    def start(self, command, **environment):
        words = [f"{name}={value}" for name, value in environment.items()]
        subprocess.run(
            [*self.base, "new-session", "-d", "-x", "80", "-y", "24", "env", "LC_ALL=C.UTF-8", *words, *map(str, command)],
            check=True, timeout=TIMEOUT, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )

    def screen(self, *options):
        return subprocess.run(
            [*self.base, "capture-pane", "-p", *options], capture_output=True, text=True, check=False, timeout=TIMEOUT
        ).stdout

    def wait_for(self, pattern):
        until = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.screen()):
            assert time.monotonic() < until, f"no {pattern!r} on:\n{self.screen()}"
            time.sleep(0.1)
        return self.screen()

    def key(self, name):
        subprocess.run([*self.base, "send-keys", name], check=True, timeout=TIMEOUT)

    def end(self):
        subprocess.run([*self.base, "kill-server"], check=False, capture_output=True, timeout=TIMEOUT)


@pytest.fixture
def tmux(tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip("no tmux: tools/packages-test.txt names it")
    terminal = Tmux(tmp_path / "tmux")
    yield terminal
    terminal.end()


@pytest.fixture
def live(tmp_path, trainer):
    run = tmp_path / "live"
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--dir", run, "--", "python3", trainer, "100000", "0.05"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    while not (run / "events.tfrecord").exists():
        time.sleep(0.05)
    yield run, job
    job.send_signal(signal.SIGTERM)
    job.wait(timeout=TIMEOUT)


def test_top_follows_a_run_and_leaves_the_screen_as_it_was(live, tmux):
    run, job = live
    tmux.start(["sh", "-c", f"echo before; {WHYSTOP} top '{run}'; sleep 1000"], NO_COLOR="1")
    shown = tmux.wait_for(r"(?s) left.*[▁▂▃▄▅▆▇█]{8,}")
    assert re.search(r"step [\d,]+ of 100,000, .* steps/s, .* so far, .* left", shown)
    assert "memory" in shown and re.search(r"loss [\d.]+ -> [\d.]+", shown) and "before" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "\x1b[3" not in tmux.screen("-e"), "colour with NO_COLOR"
    first = int(re.search(r"step ([\d,]+) of", shown)[1].replace(",", ""))
    tmux.wait_for(rf"step (?!{first:,} )[\d,]+ of")  # It goes on.
    tmux.key("q")
    after = tmux.wait_for(r"before")
    assert "learning" in after, "what was seen last stays"
    assert job.poll() is None, "the run goes on"


def test_top_sees_the_end(live, tmux):
    run, job = live
    tmux.start(["sh", "-c", f"{WHYSTOP} top '{run}'; sleep 1000"])
    tmux.wait_for(r"steps/s")
    job.send_signal(signal.SIGTERM)
    tmux.wait_for(r"(?s)\A(?!.*q leaves).*SIGTERM")


def test_who_waits_for_the_verdict_sees_how_the_run_stands(live, tmux):
    run, job = live
    tmux.start(["sh", "-c", f"{WHYSTOP} why --follow '{run}'; echo that is all; sleep 1000"])
    shown = tmux.wait_for(r"(?s)steps/s.*[▁▂▃▄▅▆▇█]{8,}")
    assert "q tells the verdict so far" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    job.send_signal(signal.SIGTERM)
    tmux.wait_for(r"that is all")
    told = tmux.screen("-S", "-")
    assert "STOPPED" in told and "SIGTERM" in told and "steps/s" not in told, told


def test_a_key_asks_for_the_verdict_of_a_run_that_goes_on(live, tmux):
    run, job = live
    tmux.start(["sh", "-c", f"{WHYSTOP} why --follow '{run}'; echo that is all; sleep 1000"])
    tmux.wait_for(r"steps/s")
    tmux.key("q")
    tmux.wait_for(r"that is all")
    assert "RUNNING" in tmux.screen("-S", "-")
    assert job.poll() is None, "the run goes on"


def test_the_verdict_fits_80_columns_with_curve_and_times(tmp_path, trainer, tmux):
    run = tmp_path / "run"
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--dir", run, "--", "python3", trainer, "100000", "0.02"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    while "step 60/" not in whystop("inspect", run, "--output", check=False).stdout:
        time.sleep(0.2)
    job.send_signal(signal.SIGTERM)
    job.wait(timeout=TIMEOUT)
    tmux.start(["sh", "-c", f"{WHYSTOP} why '{run}'; echo that is all; sleep 1000"])
    tmux.wait_for(r"that is all")
    shown = tmux.screen("-S", "-")  # With what has scrolled away.
    assert re.search(r"[▁▂▃▄▅▆▇█]{8,}  loss", shown), shown
    assert re.search(r"when .*SIGTERM.*; .* the job ended", shown, re.DOTALL), shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_log_that_whystop_did_not_watch_has_its_curve_too(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} loss {2 / (i + 1):.4f}\n" for i in range(200)))
    assert re.search(r"[▁▂▃▄▅▆▇█]{8,}  loss", whystop("why", log, check=False).stdout)


def test_the_curve_is_that_of_what_decided(tmp_path):
    log = tmp_path / "train.log"
    lines = [f"episode {i}/400 episode_reward {20 + 180 * (1 - 0.985**i) + i % 7:.1f} loss {0.5 + (i * 37 % 11) / 100:.4f}\n" for i in range(1, 401)]
    log.write_text("".join(lines))
    shown = whystop("why", log, check=False).stdout
    assert re.search(r"LEARNING .*episode_reward", shown), shown
    assert re.search(r"[▁▂▃▄▅▆▇█]{8,}  episode_reward", shown), shown
