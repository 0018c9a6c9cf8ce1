"""`whystop report`: one file, seen and used in a browser as a person would."""

import json
import os
import shutil
import subprocess

import pytest
from conftest import ROOT, data_of, whystop, write_report


def test_the_report_says_what_the_terminal_says(report, home):
    verdict = json.loads(whystop("why", "--json", home / "raised", check=False).stdout)
    assert data_of(report)["runs"][0]["verdict"] == verdict


def test_a_reader_sees_the_answers_the_curve_and_the_reason(report, seen):
    page = seen.open(report)
    assert page.get_by_role("heading", name="Why did it stop?").is_visible()
    assert page.get_by_role("heading", name="Is it learning?").is_visible()
    assert "the <b>label</b> 10 is out of range" in page.locator(".answers").inner_text()
    chart = page.get_by_role("img", name="Chart of Loss")
    chart.scroll_into_view_if_needed()
    assert page.locator("#curve canvas").first.is_visible()
    assert "Traceback" in page.locator("#log").inner_text()
    assert page.locator("#log .marked").count() + page.locator("#source .marked").count() > 0
    assert page.locator("#processes tbody tr").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the window"
    assert seen.errors == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


def test_hover_zoom_and_keys_work_on_the_curve(report, seen):
    page = seen.open(report)
    chart = page.get_by_role("img", name="Chart of Loss")
    figure = page.locator("#curve figure").first
    chart.scroll_into_view_if_needed()
    legend = figure.locator(".legend .at")
    assert legend.inner_text() == "at the end"
    box = figure.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert legend.inner_text().startswith("step ")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    everything = figure.get_by_role("button", name="show all")
    everything.wait_for(state="visible")
    everything.click()
    assert not everything.is_visible()
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert legend.inner_text().startswith("step ")
    page.keyboard.press("+")
    assert everything.is_visible()
    page.keyboard.press("0")
    assert not everything.is_visible()
    assert seen.errors == []


def test_filter_and_cause_page_open(report, seen):
    page = seen.open(report)
    log = page.locator("#log .excerpt").filter(has_text="Traceback")
    log.get_by_role("searchbox").fill("ValueError")
    rows = log.locator(".row:visible")
    assert rows.count() >= 1
    assert all("valueerror" in text.lower() for text in rows.all_inner_texts())
    page.locator(".cause-title a").first.click()
    opened = page.locator("details.cause-page[open]")
    opened.wait_for()
    assert "What to do" in opened.inner_text()
    assert seen.errors == []


def test_a_screen_reader_finds_its_way(report, seen):
    page = seen.open(report)
    headings = page.get_by_role("heading", level=2).all_inner_texts()
    assert {"Why did it stop?", "Is it learning?", "On the curve", "In the log", "Processes"} <= set(headings)
    words = page.get_by_role("img", name="Chart of Loss").get_attribute("aria-label")
    assert "from" in words and "lowest" in words
    for control in page.locator("button:visible, input:visible, a:visible, [tabindex='0']:visible").all():
        named = control.evaluate("e => (e.ariaLabel || e.innerText || e.labels?.[0]?.innerText || '').trim() !== ''")
        assert named, control.evaluate("e => e.outerHTML.slice(0, 200)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body"), "the keyboard reaches nothing"
    levels = page.evaluate("[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].filter((e) => e.checkVisibility()).map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1 and all(after - before <= 1 for before, after in zip(levels, levels[1:])), f"a level is left out: {levels}"
    assert page.locator("#curve .legend .key").first.evaluate("e => e.textContent").startswith("loss "), "name and value are one word"


def test_text_is_readable_on_its_ground(report, seen):
    """The contrast that WCAG asks of normal text, for every text on the page."""
    page = seen.open(report)
    poor = page.evaluate(
        """() => {
          const light = (c) => {
            const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
              .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = (e) => {
            for (; e; e = e.parentElement) {
              const c = getComputedStyle(e).backgroundColor;
              if (!/, 0\\)$|transparent/.test(c)) return c;
            }
            return "rgb(255, 255, 255)";
          };
          const found = new Set();
          for (const e of document.querySelectorAll("main *")) {
            const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
            if (!own || e.offsetParent === null || e.disabled) continue;
            const a = light(getComputedStyle(e).color), b = light(ground(e));
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) found.add(`${e.className || e.tagName} ${ratio.toFixed(2)}`);
          }
          return [...found];
        }"""
    )
    assert poor == []


def test_two_runs_in_one_file_are_compared(home, tmp_path, seen):
    file = tmp_path / "both.html"
    whystop("report", home / "raised", home / "finished", "-o", file)
    page = seen.open(file)
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="compare the two ticked").click()
    page.get_by_role("heading", name="Two runs").wait_for()
    assert page.get_by_role("img", name="Chart of").count() >= 1
    assert seen.errors == []


def test_a_foreign_log_becomes_a_report_too(tmp_path, seen):
    log = tmp_path / "slurm 12.out"
    lines = [f"epoch {i} loss {2 / (i + 1):.4f}" for i in range(50)]
    log.write_text("\n".join(lines) + "\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    file = tmp_path / "report.html"
    whystop("report", log, "-o", file)
    page = seen.open(file)
    assert "CUDA out of memory" in page.locator("#log").inner_text()
    assert page.get_by_role("img", name="Chart of Loss").count() == 1
    assert seen.errors == []


def test_a_million_points_with_nan_stay_small_and_keep_their_spike(tmp_path):
    metrics = tmp_path / "metrics.csv"
    with metrics.open("w") as out:
        out.write("step,loss\n")
        for step in range(1_000_000):
            out.write(f"{step},{'nan' if step == 700_000 else 99.5 if step == 123_456 else 1.0}\n")
    file = tmp_path / "report.html"
    whystop("report", metrics, "-o", file)
    assert file.stat().st_size < 400_000
    series = data_of(file)["runs"][0]["series"][0]
    assert max(series["max"]) == 99.5
    assert sum(count for _, count in series["bad"]) == 1
    assert series["points"] == 1_000_000


def test_a_recording_that_is_cut_is_still_drawn(home, tmp_path):
    copy = tmp_path / "cut"
    shutil.copytree(home / "finished", copy)
    events = copy / "events.tfrecord"
    os.truncate(events, events.stat().st_size * 2 // 3)
    file = tmp_path / "report.html"
    whystop("report", copy, "-o", file)
    assert data_of(file)["runs"][0]["series"]


def test_what_cannot_be_done_is_said_with_a_way_out(home, tmp_path):
    missing = whystop("report", tmp_path / "nothing", check=False)
    assert missing.returncode == 2 and "nothing" in missing.stderr
    refused = whystop("report", home / "finished", "-o", tmp_path / "no such folder" / "x.html", check=False)
    assert refused.returncode == 2 and "x.html" in refused.stderr


def test_the_checked_in_page_is_what_its_sources_build():
    modules = ROOT / "web" / "node_modules"
    if shutil.which("npm") is None:
        pytest.skip("no npm here")
    if not modules.exists():
        fetched = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=ROOT / "web", capture_output=True, timeout=300)
        if fetched.returncode != 0:
            pytest.skip("npm cannot fetch the packages of the lock file")
    checked = subprocess.run(["npm", "run", "check"], cwd=ROOT / "web", capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def line_of_trial(change, values):
    columns = {"x": list(range(len(values))), "mean": values, "bad": []}
    return {"change": change, "name": "loss", "role": "train-loss", "steps": True, "file": "", "points": len(values), **columns}


@pytest.fixture(scope="module")
def tried(report, tmp_path_factory):
    """The report of a run with experiments; real ones need a framework, and are run in tests/try."""
    data = data_of(report)
    run = data["runs"][0]
    run["guess_level"] = 1.609
    said = [("nothing", "as-is", "neither", ""), ("another seed", "seed=1000", "neither", ""),
            ("learning rate x 10", "lr-times=10", "refuted", "lr-too-low"),
            ("learning rate x 0.1", "lr-times=0.1", "proven", "lr-too-high"),
            ("all parameters learn", "unfreeze", "not-tested", "")]
    run["verdict"]["trials"] = [
        {"change": change, "spec": spec, "result": result, "text": f"what {spec} did", **({"cause": cause} if cause else {})}
        for change, spec, result, cause in said
    ]
    run["trial_lines"] = [line_of_trial(change, [2.0, 1.0 + number]) for number, (change, *_) in enumerate(said[:-1])]
    return write_report(report, data, tmp_path_factory.mktemp("tried") / "report.html")


def test_trials_stand_side_by_side_under_the_names_of_their_curves(tried, seen):
    page = seen.open(tried)
    section = page.locator("#trials")
    section.scroll_into_view_if_needed()
    section.locator("canvas").first.wait_for()
    drawn = section.locator(".legend .name").all_inner_texts()
    assert drawn == ["as it was", "learning rate x 0.1", "learning rate x 10", "another seed"]
    cards = section.locator(".trial")
    assert cards.locator("h3").all_inner_texts() == [*drawn, "all parameters learn"]
    assert cards.locator(".badge").all_inner_texts() == ["to compare with", "proven", "refuted", "to compare with", "not tested"]
    colours = [mark.evaluate("e => getComputedStyle(e).backgroundColor") for mark in section.locator(".swatch").all()]
    assert colours[:4] == colours[4:] and len(set(colours)) == 4, "a card has the colour of its curve"
    assert "guessing 1.61" in section.get_by_role("img").get_attribute("aria-label")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the window"
    assert seen.errors == []
