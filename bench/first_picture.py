#!/usr/bin/env python3
"""Time until a person sees the first curve: whystop against TensorBoard, on the same data, turn by turn.

    python bench/first_picture.py [--hours 24] [--records 19800000] [--rounds 3]

From the start of the program to a drawn chart in a headless Chromium that is open already. Two loads: a recording of 24
hours (`whystop serve`; TensorBoard gets the same series by `whystop export`) and an event file of 1 GiB (`whystop
report`). TensorBoard shows what it has read so far, so two times are taken of it: the first points, and all of them; a
page of whystop is always whole. Wall time, since a person waits for it; the ratio is of neighbouring turns. Needs
playwright and tensorboard in this interpreter. Fails when whystop is slower than TensorBoard's whole picture.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", pathlib.Path(__file__).resolve().parents[1] / "build"))
DRAWN = "#curve figure .u-wrap canvas"
WAIT_S = 900


@contextlib.contextmanager
def started(command: "list[object]", **options):
    process = subprocess.Popen([str(word) for word in command], text=True, **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_for_frame(page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def by_serve(page, recording: pathlib.Path) -> float:
    begin = time.monotonic()
    with started([BUILD / "whystop", "serve", "--json", "--port", 0, recording], stdout=subprocess.PIPE) as server:
        url = json.loads(server.stdout.readline())["url"]
        page.goto(url)  # The token becomes a cookie.
        page.goto(f"{url.split('?')[0]}#run={recording.name}")
        page.locator(DRAWN).first.wait_for(timeout=WAIT_S * 1000)
        wait_for_frame(page)
        return time.monotonic() - begin


def by_report(page, file: pathlib.Path) -> float:
    begin = time.monotonic()
    out = file.parent / "report.html"
    subprocess.run([BUILD / "whystop", "report", file, "-o", out], check=True, stdout=subprocess.DEVNULL)
    page.goto(out.as_uri())
    page.locator(DRAWN).first.wait_for(timeout=WAIT_S * 1000)
    wait_for_frame(page)
    return time.monotonic() - begin


def asked(url: str):
    with contextlib.suppress(urllib.error.URLError, ConnectionError, json.JSONDecodeError, TimeoutError):
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)
    return None


def newest_step(base: str, run: str, tag: str) -> int:
    where = urllib.parse.urlencode({"run": run, "tag": tag})
    points = asked(f"{base}/data/plugin/scalars/scalars?{where}") or []
    return max((point[1] for point in points), default=-1)


def by_tensorboard(page, folder: pathlib.Path, tag: str, last_step: int) -> "tuple[float, float]":
    """Seconds to the first points in the browser, and to all of them at the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", port, "--load_fast", "auto"]
    begin = time.monotonic()
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        run = None
        while run is None and time.monotonic() - begin < WAIT_S:
            found = asked(f"{base}/data/plugin/scalars/tags") or {}
            run = next((name for name, tags in found.items() if tag in tags), None)
            time.sleep(0 if run is not None else 0.1)
        # Its page asks once and then only when it is told to: it is opened when there is something.
        with page.expect_response(lambda one: "timeSeries" in one.url and one.ok, timeout=WAIT_S * 1000):
            page.goto(f"{base}/#timeseries", timeout=WAIT_S * 1000)
        wait_for_frame(page)
        first = time.monotonic() - begin
        while newest_step(base, run, tag) < last_step and time.monotonic() - begin < WAIT_S:
            time.sleep(0.1)
        return first, time.monotonic() - begin


def compare(name: str, ours, theirs, rounds: int) -> bool:
    """Prints the medians; true if we are slower than its whole picture."""
    times, firsts, wholes = [], [], []
    for _ in range(rounds):
        times.append(ours())
        first, whole = theirs()
        firsts.append(first)
        wholes.append(max(first, whole))
    mid = statistics.median
    print(
        f"{name}: whystop {mid(times):.2f} s ({min(times):.2f} to {max(times):.2f}); TensorBoard first points "
        f"{mid(firsts):.2f} s, all {mid(wholes):.2f} s; whystop is {mid(firsts) / mid(times):.1f} and "
        f"{mid(wholes) / mid(times):.1f} times as fast (median of {rounds})", flush=True,
    )
    return mid(times) > mid(wholes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--records", type=int, default=19_800_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import tensorboard  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError as missing:
        print(f"not measured: {missing}")
        return 0
    slower = False
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        recording = pathlib.Path(folder) / "run"
        subprocess.run([BUILD / "long_recording_bench", recording, str(options.hours)], check=True)
        exported = pathlib.Path(folder) / "exported"
        subprocess.run([BUILD / "whystop", "export", recording, "--format", "tensorboard", "-o", exported], check=True)
        slower |= compare(
            f"recording of {options.hours} h", lambda: by_serve(page, recording),
            lambda: by_tensorboard(page, exported, "loss", options.hours * 3600 - 1), options.rounds,
        )
        large = pathlib.Path(folder) / "large" / "events.out.tfevents.1.bench"
        large.parent.mkdir()
        subprocess.run([BUILD / "events_bench", "make", "tensorboard", large, str(options.records)], check=True)
        slower |= compare(
            f"event file of {large.stat().st_size / 2**30:.2f} GiB", lambda: by_report(page, large),
            lambda: by_tensorboard(page, large.parent, "train/loss", options.records // 20 - 1), options.rounds,
        )
        browser.close()
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
