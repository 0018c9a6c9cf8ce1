"""Text of logs, names and commands that would like to be more than text."""

import os
import pty
import subprocess

import pytest
from conftest import TIMEOUT, WHYSTOP, data_of, whystop
from xss_payloads import payloads


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A log whose lines, series names and exception hold the payloads."""
    folder = tmp_path_factory.mktemp("hostile")
    log = folder / "<img src=x onerror=alert(1)>.log"
    lines = []
    for number, payload in enumerate(payloads()):
        lines.append(f"step {number} loss {1 / (number + 1):.5f} {payload}")
    lines += ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "    f()"]
    lines.append("ValueError: " + " ".join(payloads()[:40]))
    log.write_text("\n".join(lines) + "\n")
    metrics = folder / "metrics.csv"
    names = [payload.replace(",", " ").replace('"', "'") for payload in payloads()[::20]]
    rows = [",".join(["step", "loss", *names])] + [",".join([str(i)] * (len(names) + 2)) for i in range(20)]
    metrics.write_text("\n".join(rows) + "\n")
    return [log, metrics]


def test_no_payload_of_a_log_does_anything(hostile, tmp_path, seen):
    for number, source in enumerate(hostile):
        file = tmp_path / f"{number}.html"
        whystop("report", source, "-o", file)
        page = seen.open(file)
        for details in page.locator("main > article details > summary").all():
            if details.is_visible():
                details.click()
        page.mouse.move(200, 400)
        assert page.evaluate("window.__ran") is None
        assert page.title() != "ran"
        assert page.locator("main script, main iframe, main img, main object, main embed, main form").count() == 0
    assert seen.errors == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


def test_every_payload_is_in_the_page_as_text(tmp_path, seen):
    """The test above would pass on an empty page: here is the text, as much at once as an excerpt holds."""
    for start in range(0, len(payloads()), 150):
        part = payloads()[start : start + 150]
        log = tmp_path / "log.txt"
        log.write_text("\n".join(part) + "\nKilled\n")
        file = tmp_path / "report.html"
        whystop("report", log, "-o", file)
        shown = seen.open(file).locator("#log").inner_text()
        assert [payload for payload in part if payload not in shown] == []
    assert seen.errors == []


def test_marks_that_turn_the_writing_around_are_not_shown(tmp_path, seen):
    log = tmp_path / "log.txt"
    log.write_text("step 1 loss 0.5 \u202eevil\u202c \u2066x\u2069\nKilled\n")
    file = tmp_path / "report.html"
    whystop("report", log, "-o", file)
    shown = seen.open(file).locator("body").inner_text()
    assert not any(mark in shown for mark in "\u202e\u202c\u2066\u2069")


def on_a_terminal(*command):
    """The output of a command that believes to be on a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [WHYSTOP, *map(str, command)], stdin=slave, stdout=slave, stderr=slave,
        env={**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm"},
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    process.wait(timeout=TIMEOUT)
    os.close(master)
    return shown


@pytest.mark.parametrize("command", ["why", "top"])
def test_no_escape_of_a_log_reaches_the_terminal(command, tmp_path, trainer):
    run = tmp_path / "run"
    escapes = r"raise ValueError('\x1b]0;owned\x07\x1b[2J\x1b[31m \x9b31m \x08\x08')"
    whystop("run", "--quiet", "--dir", run, "--", "python3", trainer, 20, 0, escapes, check=False)
    shown = on_a_terminal(command, run, *(["--once"] if command == "top" else []))
    assert b"ValueError" in shown
    assert b"\x1b" not in shown and b"\x07" not in shown and b"\x08" not in shown and b"\xc2\x9b" not in shown


def test_the_data_of_a_report_is_one_json_document(hostile, tmp_path):
    file = tmp_path / "report.html"
    whystop("report", hostile[0], "-o", file)
    assert data_of(file)["runs"][0]["logs"][0]["lines"]
