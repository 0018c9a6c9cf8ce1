"""Helpers for tests of what people look at: the report, the live page, the terminal view and the exports.

The page is driven in Debian's Chromium by Playwright over the browser's own protocol (docs/decisions/0014-the-page.md).
"""

import json
import os
import pathlib
import shutil
import subprocess
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
WHYSTOP = BUILD / "whystop"
TIMEOUT = 180  # Seconds after which something hangs; no test depends on how long anything takes.

# A job in plain Python that prints a loss, so that these tests need no framework.
TRAINER = """
import math, os, random, sys, time
random.seed(1)
steps, pause = int(sys.argv[1]), float(sys.argv[2])
for step in range(1, steps + 1):
    loss = 2.3 * math.exp(-step / 40) + 0.1 + 0.02 * random.random()
    print(f"step {step}/{steps} loss {loss:.4f} lr 0.001", flush=True)
    time.sleep(pause)
if len(sys.argv) > 3:
    exec(sys.argv[3])
"""


def whystop(*arguments, home=None, **options):
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if home is not None:
        environment["WHYSTOP_HOME"] = str(home)
    options.setdefault("check", True)
    return subprocess.run(
        [WHYSTOP, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, env=environment,
        stdin=subprocess.DEVNULL, **options,
    )


@pytest.fixture(scope="session")
def trainer(tmp_path_factory):
    path = tmp_path_factory.mktemp("a job") / "train.py"
    path.write_text(textwrap.dedent(TRAINER))
    return path


@pytest.fixture(scope="session")
def home(tmp_path_factory, trainer):
    """A home with two recorded runs: one that raised, and one that came to its end."""
    folder = tmp_path_factory.mktemp("home of runs")
    raising = "raise ValueError('the <b>label</b> 10 is out of range')"
    whystop("run", "--quiet", "--dir", folder / "raised", "--", "python3", trainer, 60, 0.03, raising, check=False)
    whystop("run", "--quiet", "--dir", folder / "finished", "--", "python3", trainer, 60, 0.03, check=False)
    return folder


def data_of(page_file):
    """What a report holds, as the page reads it."""
    text = pathlib.Path(page_file).read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)])


def write_report(report, data, file):
    """The page of a report with other data: what only a long or a sick run would show."""
    text = pathlib.Path(report).read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    held = json.dumps(data).replace("<", "\\u003c")
    file.write_text(text[:start] + held + text[text.index("</script>", start) :], encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def report(home, tmp_path_factory):
    """The report of the run that raised."""
    file = tmp_path_factory.mktemp("reports") / "a report.html"
    whystop("report", home / "raised", "-o", file)
    return file


class Seen:
    """A page that is open, and everything that must not happen on it."""

    def __init__(self, page):
        self.page = page
        self.errors = []
        self.requests = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: self.errors.append(str(fault)))
        page.on("dialog", lambda dialog: (self.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file):
        self.page.goto(pathlib.Path(file).resolve().as_uri())
        return self.page


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: tools/packages-test.txt names it")
    with sync_api.sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that a container may not give; the pages are ours.
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["1280-light", "390-dark"])
def seen(request, browser):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    yield Seen(context.new_page())
    context.close()
