"""`whystop serve`: who may look, and the page that follows a run to its death."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.parse

import pytest
from conftest import TIMEOUT, WHYSTOP


# The first frame of a recording: a header with format 99.
NEWER_FORMAT = b"\r\x00\x00\x00\x00\x00\x00\x00<7\xb84\x08\x00\x12\t\x08c\x12\x050.1.0\x18\xa9\t\xde"


@contextlib.contextmanager
def serving(home, *arguments):
    process = subprocess.Popen(
        [WHYSTOP, "serve", "--json", "--port", "0", *arguments], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "WHYSTOP_HOME": str(home)},
    )
    try:
        yield json.loads(process.stdout.readline())["url"], process
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT) == 0


def ask(url, path, method="GET", **headers):
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=TIMEOUT)
    connection.request(method, path, headers={name.title(): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    return answer.status, dict(answer.getheaders()), body


def token_of(url):
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["token"][0]


def test_without_the_token_nothing_is_told(home):
    with serving(home) as (url, _):
        for path in ("/", "/api/runs", "/api/run?id=raised", "/api/events", "/metrics", "/?token=wrong"):
            status, _, body = ask(url, path)
            assert status == 401, path
            assert b"raised" not in body
        bearer = f"Bearer {token_of(url)}"
        assert ask(url, "/api/runs", authorization=bearer)[0] == 200
        status, headers, _ = ask(url, f"/?token={token_of(url)}")
        assert status == 303 and "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]


def test_answers_are_guarded(home):
    with serving(home) as (url, _):
        bearer = f"Bearer {token_of(url)}"
        status, headers, _ = ask(url, "/", authorization=bearer)
        assert status == 200 and headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
        assert ask(url, "/", host="evil.example", authorization=bearer)[0] == 403
        assert ask(url, "/api/runs", method="POST", authorization=bearer)[0] == 405
        assert ask(url, "/api/run?id=../../etc", authorization=bearer)[0] == 404
        assert ask(url, "/nothing", authorization=bearer)[0] == 404
        assert ask(url, "/" + "x" * 20_000, authorization=bearer)[0] in (400, 431)


def test_prometheus_reads_figures(home):
    with serving(home) as (url, _):
        status, headers, body = ask(url, "/metrics", authorization=f"Bearer {token_of(url)}")
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = body.decode()
        assert 'whystop_running{run="raised"} 0' in text
        assert 'whystop_outcome{run="finished",outcome="completed"' in text
        assert 'whystop_step{run="finished"} 60' in text


def test_clients_that_do_not_read_hold_up_nobody(home):
    with serving(home) as (url, _):
        place = urllib.parse.urlsplit(url)
        slow = []
        for _ in range(100):
            client = socket.create_connection((place.hostname, place.port), timeout=TIMEOUT)
            client.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token_of(url)}\r\n\r\n".encode())
            slow.append(client)
        half = socket.create_connection((place.hostname, place.port), timeout=TIMEOUT)
        half.sendall(b"GET / HT")
        assert ask(url, "/api/runs", authorization=f"Bearer {token_of(url)}")[0] == 200
        assert slow[99].recv(15).startswith(b"HTTP/1.1 200 OK")
        for client in [*slow, half]:
            client.close()


def test_a_port_in_use_and_a_foreign_address_without_token_are_refused(home):
    with serving(home) as (url, _):
        port = str(urllib.parse.urlsplit(url).port)
        taken = subprocess.run([WHYSTOP, "serve", "--port", port], capture_output=True, text=True, timeout=TIMEOUT)
        assert taken.returncode == 2 and "--port 0" in taken.stderr
    open_to_all = subprocess.run(
        [WHYSTOP, "serve", "--listen", "0.0.0.0", "--no-token"], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert open_to_all.returncode == 2


def test_the_list_opens_a_run_and_compares_two(home, seen):
    with serving(home) as (url, _):
        page = seen.page
        page.goto(url)
        assert "token" not in page.url
        page.get_by_role("link", name="raised").wait_for()
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.get_by_role("button", name="compare the two ticked").click()
        page.get_by_role("heading", name="Two runs").wait_for()
        page.get_by_role("link", name="all runs").click()
        page.get_by_role("link", name="raised").click()
        page.get_by_role("heading", name="Why did it stop?").wait_for()
        assert "out of range" in page.locator(".answers").inner_text()
        assert seen.errors == []
        place = urllib.parse.urlsplit(url).netloc
        assert [one for one in seen.requests if urllib.parse.urlsplit(one).netloc not in (place, "")] == []


def test_a_live_run_is_followed_to_its_death(tmp_path, trainer, browser):
    home = tmp_path / "home"
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--dir", home / "live", "--", "python3", trainer, "100000", "0.05"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    page = browser.new_page()
    page.set_default_timeout(60_000)
    try:
        with serving(home) as (url, _):
            page.goto(url)
            page.get_by_role("link", name="live").click()
            page.get_by_role("heading", name="Is it still running?").wait_for()
            page.get_by_role("img", name="Chart of Loss").wait_for()
            pid = json.loads(
                subprocess.run([WHYSTOP, "inspect", home / "live", "--kind", "run-start"], capture_output=True,
                               check=True, timeout=TIMEOUT).stdout.splitlines()[0])["pid"]
            os.kill(pid, signal.SIGKILL)
            page.get_by_role("heading", name="Why did it stop?").wait_for()
            assert "SIGKILL" in page.locator(".answers").inner_text()
    finally:
        page.close()
        job.wait(timeout=TIMEOUT)


def steps_told(page):
    """The steps that the page's head tells, as a number."""
    found = re.search(r"step ([\d,]+) of", page.locator(".facts").inner_text())
    return int(found[1].replace(",", "")) if found else 0


def test_a_page_that_is_drawn_anew_keeps_what_its_reader_has_set(tmp_path, trainer, browser):
    home = tmp_path / "home"
    job = subprocess.Popen(
        [WHYSTOP, "run", "--quiet", "--dir", home / "live", "--", "python3", trainer, "100000", "0.05"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    page = browser.new_page()
    page.set_default_timeout(60_000)
    try:
        with serving(home) as (url, _):
            page.goto(url)
            page.get_by_role("link", name="live").click()
            chart = page.get_by_role("img", name="Chart of Loss")
            page.get_by_role("progressbar", name="progress").wait_for()
            page.get_by_label("by time").check()
            chart.focus()
            page.keyboard.press("+")
            page.locator("#log").get_by_role("searchbox").fill("step 1")
            chart.focus()
            before = steps_told(page)
            page.wait_for_function(
                "before => Number(/step ([\\d,]+) of/.exec(document.querySelector('.facts').innerText)[1].replaceAll(',', '')) > before",
                arg=before,
            )
            assert page.get_by_label("by time").is_checked()
            assert page.locator("#curve").get_by_role("button", name="show all").is_visible()
            assert page.locator("#log").get_by_role("searchbox").input_value() == "step 1"
            assert page.evaluate("document.activeElement.ariaLabel ?? ''").startswith("Chart of Loss")
    finally:
        page.close()
        job.send_signal(signal.SIGTERM)
        job.wait(timeout=TIMEOUT)


def test_a_run_that_is_chosen_while_the_list_is_fetched_is_shown_at_once(home, browser):
    page = browser.new_page()
    page.set_default_timeout(60_000)
    held = []
    try:
        with serving(home) as (url, _):
            page.add_init_script("window.setTimeout = () => 0")  # Nothing is left to a later look.
            page.route("**/api/runs", lambda route: held.append(route))
            page.goto(url)
            page.wait_for_function("() => document.querySelector('.live-bar') !== null")
            page.evaluate("location.hash = 'run=raised'")
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")  # It has been told.
            assert len(held) == 1
            held[0].continue_()
            page.get_by_role("heading", name="raised", exact=True).wait_for()
    finally:
        page.close()


def pad_to(folder, size):
    (folder / "pad").write_bytes(b" " * (size - sum(file.stat().st_size for file in folder.iterdir() if file.is_file())))


def test_a_recording_that_was_made_anew_under_its_name_is_read_anew(home, tmp_path):
    runs, size = tmp_path / "home", 2_000_000
    with serving(runs) as (url, _):
        for name, outcome in (("finished", "completed"), ("raised", "raised")):
            shutil.rmtree(runs / "run", ignore_errors=True)
            shutil.copytree(home / name, runs / "run")
            pad_to(runs / "run", size)
            seen = json.loads(ask(url, "/api/run?id=run", authorization=f"Bearer {token_of(url)}")[2])
            assert seen["verdict"]["outcome"] == outcome


def test_a_run_that_cannot_be_read_says_why(home, tmp_path, seen):
    runs = tmp_path / "home"
    shutil.copytree(home / "finished", runs / "newer")
    (runs / "newer" / "events.tfrecord").write_bytes(NEWER_FORMAT)
    page = seen.page
    with serving(runs) as (url, _):
        page.goto(url)
        page.get_by_role("link", name="newer").wait_for()
        assert "format 99" in page.locator(".runs tbody").inner_text()
        page.get_by_role("link", name="newer").click()
        page.get_by_role("heading", name="This run cannot be shown").wait_for()
        assert "format 99" in page.locator("main").inner_text()
        page.evaluate("location.hash = 'run=deleted'")
        page.get_by_text("There is no recording of this name").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the window"


def test_very_many_runs_are_listed_soon_and_then_read(home, tmp_path, browser):
    many = tmp_path / "home"
    for number in range(150):
        shutil.copytree(home / "finished", many / f"run-{number:03}")
    page = browser.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    try:
        with serving(many) as (url, _):
            page.goto(url)
            page.get_by_role("link", name="run-149").wait_for()
            assert page.locator(".runs tbody tr").count() == 150
            page.wait_for_function("() => [...document.querySelectorAll('.runs .badge')].every((b) => b.textContent !== 'reading')")
            assert page.locator(".runs .badge", has_text="completed").count() == 150
    finally:
        page.close()


def test_a_home_without_rights_is_an_empty_list(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    with serving(closed) as (url, _):
        assert json.loads(ask(url, "/api/runs", authorization=f"Bearer {token_of(url)}")[2]) == []
