"""What the charts and lists of the page tell a reader, on data that only long, sick or many runs would give."""

import copy

import pytest
from conftest import data_of, write_report

# What is written on a canvas is heard by nobody else: the names of axes, the numbers beside them.
LISTEN = """
  window.written = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const figure = this.canvas.closest("figure");
    window.written.push([figure?.querySelector(".chart-title")?.textContent ?? "", String(text)]);
    return write.call(this, text, ...rest);
  };
"""


def series(name, role, values, file="", **other):
    bad = [[i, 1] for i, value in enumerate(values) if value is None]
    finite = [value for value in values if value is not None]
    return {
        "name": name, "role": role, "file": file, "steps": True, "points": len(values), "first": finite[0], "last": finite[-1],
        "x": list(range(1, len(values) + 1)), "mean": values, "bad": bad, **other,
    }


def resource(panel, unit, label, values, **other):
    return {"panel": panel, "unit": unit, "label": label, "t": list(range(len(values))), "mean": values, **other}


def falling(size, to=0.1):
    return [to + 2 / (1 + i) for i in range(size)]


@pytest.fixture
def page_of(report, tmp_path, seen):
    """Opens the page of a run that differs from a real one by what is given."""

    def open_page(*changes):
        data = data_of(report)
        data["runs"] = [{**copy.deepcopy(data["runs"][0]), **change} for change in changes]
        seen.page.add_init_script(LISTEN)
        return seen.open(write_report(report, data, tmp_path / "page.html"))

    yield open_page
    assert seen.errors == []


def written(page, title):
    """What is written on the chart of this title, after it was drawn."""
    chart = page.locator("figure", has=page.locator(".chart-title", has_text=title)).first
    chart.scroll_into_view_if_needed()
    chart.locator("canvas").first.wait_for()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("title => window.written.filter(([at]) => at === title).map(([, text]) => text)", title)


def verdict_of(report, **other):
    return {**data_of(report)["runs"][0]["verdict"], **other}


def test_axes_tell_what_they_count_and_end_within_the_chart(page_of):
    page = page_of({"series": [series("loss", "train-loss", falling(1500))], "marks": [], "timed": False})
    assert "step" in written(page, "Loss")


def test_a_reward_that_decided_is_the_first_and_the_largest_chart(page_of, report):
    rewards, losses = list(range(200)), [0.5 + 0.01 * (i % 7) for i in range(200)]
    page = page_of({
        "series": [series("loss", "train-loss", losses), series("episode_reward", "train-score", rewards)],
        "verdict": verdict_of(report, learning_series="episode_reward"),
    })
    titles = page.locator("#curve .chart-title").all_inner_texts()
    assert titles[:2] == ["Score", "Loss"]
    sizes = [page.locator("#curve .plot").nth(i).evaluate("e => parseFloat(e.style.minHeight)") for i in (0, 1)]
    assert sizes[0] > sizes[1]


def test_what_the_program_printed_of_a_series_is_not_drawn_twice(page_of):
    lines = falling(300)
    page = page_of({"series": [
        series("loss", "train-loss", lines), series("loss", "train-loss", lines[::10], file="stdout"),
        series("val_loss", "validation-loss", lines[::10], file="stdout"),
    ]})
    chart = page.locator("#curve figure").first
    assert chart.locator(".legend .name").all_inner_texts() == ["loss", "val_loss"]
    page.locator("#curve summary", has_text="other series").click()
    assert page.locator("#curve .others summary").all_inner_texts() == ["loss (stdout)"]


def test_counts_stand_at_whole_numbers_and_bytes_at_round_ones(page_of):
    half_mib = 512 * 1024
    page = page_of({"resources": [
        resource("gpu faults", "count", "faults", [0, 1, 2, 5, 7]),
        resource("disk traffic", "bytes/s", "job written", [0, half_mib, 1.6 * 2 * half_mib]),
    ]})
    counts = [int(text) for text in written(page, "GPU faults") if text.isdigit()]
    assert len(counts) == len(set(counts)) and counts == sorted(counts), "a fraction was rounded away"
    bytes_told = [text for text in written(page, "Disk traffic") if text.endswith("B/s")]
    assert "1 MiB/s" in bytes_told and not any("1.46" in text or "1000" in text for text in bytes_told), bytes_told


def test_every_figure_of_a_resource_has_its_unit(page_of):
    page = page_of({"resources": [
        resource("gpu power", "watts", "GPU 0 power", [100, 250]), resource("gpu clock", "MHz", "GPU 0 clock", [1000, 1410]),
        resource("gpu memory", "bytes", "GPU 0 used", [0, 2**30 - 1]),
    ]})
    told = [text for text in page.locator("#resources .legend b").all_inner_texts()]
    assert told == ["250 W", "1,410 MHz", "1 GiB"]
    assert "200 W" in written(page, "GPU power")


def test_what_happens_again_and_again_is_one_line_of_the_timeline(page_of):
    phases = [{"t": 10.0 * i, "step": i, "kind": "phase", "text": "eval", "grave": False} for i in range(1, 11)]
    page = page_of({"marks": [*phases, {"t": 200.0, "kind": "end", "text": "the job ended: exit 0", "grave": False}]})
    told = page.locator("#happened li .what").all_inner_texts()
    assert told == ["eval 10 times, last at 1:40", "the job ended: exit 0"]


def test_a_stretch_of_nan_is_one_bar_and_is_told(page_of):
    page = page_of({"series": [series("loss", "train-loss", falling(50) + [None] * 400)]})
    page.add_init_script("")
    words = page.get_by_role("img", name="Chart of Loss").get_attribute("aria-label")
    assert "with values that are not finite" in words
    assert page.locator("#curve .legend b").first.inner_text() == "not finite"


def test_neighbours_on_the_curve_are_both_lettered(page_of, report):
    causes = copy.deepcopy(verdict_of(report)["causes"])
    causes[0]["evidence"] = [{"kind": "series", "weight": "decisive", "text": f"step {step}", "step_from": step, "step_to": 600} for step in (294, 295)]
    page = page_of({"series": [series("loss", "train-loss", falling(600))], "verdict": verdict_of(report, causes=causes)})
    assert {"A", "B"} <= set(written(page, "Loss"))


def test_between_two_looks_that_found_nan_the_heat_map_is_not_blank(page_of):
    cells = [0.1, 0.1, "!", None, "!", None, None, None]
    row = {"tensor": "head.weight", "gradients": cells[:5], "weights": [0.1] * 8, "updates": cells[:5]}
    page = page_of({"heat": {"first_step": 0, "steps_a_column": 1, "left_out": 0, "rows": [row]}})
    canvas = page.locator("canvas.heat")
    canvas.scroll_into_view_if_needed()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    drawn = canvas.evaluate(
        """e => [...Array(8).keys()].map((i) => e.getContext("2d").getImageData(((i + 0.5) * e.width) / 8, e.height / 2, 1, 1).data[3] > 0)"""
    )
    assert drawn == [True] * 5 + [False] * 3, "pale between two looks, nothing after the last"


def test_a_trial_that_explodes_does_not_press_the_others_flat(page_of, report):
    curves = {"nothing": [1.6] * 40, "learning rate x 0.1": falling(40), "learning rate x 10": [2.0, 1e13] + [30.0] * 38}
    trials = [{"change": change, "spec": "as-is" if change == "nothing" else "lr", "result": "neither", "text": "what it did"} for change in curves]
    page = page_of({
        "verdict": verdict_of(report, trials=trials), "guess_level": 1.6,
        "trial_lines": [{"change": change, **series("loss", "train-loss", values)} for change, values in curves.items()],
    })
    numbers = [text for text in written(page, "loss") if text[0].isdigit()]
    assert not any("e1" in text for text in numbers), numbers


def test_two_runs_are_compared_by_figures_and_by_curves_of_the_same_source(page_of, report):
    first = {"series": [series("loss", "train-loss", falling(300)), series("loss", "train-loss", falling(30), file="stdout")],
             "verdict": verdict_of(report, run="first", learning_series="loss")}
    other = {"series": [series("loss", "train-loss", falling(200)), series("loss", "train-loss", falling(20), file="stdout"),
                        series("lr", "learning-rate", [0.1] * 20)],
             "verdict": verdict_of(report, run="other", learning_series="loss")}
    first["series"].append(series("lr", "learning-rate", [0.2] * 30))
    page = page_of(first, other)
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="compare the two ticked").click()
    compared = page.locator("article", has=page.get_by_role("heading", name="Two runs"))
    assert compared.locator(".chart-title").all_inner_texts() == ["loss"]
    assert "A 0.2, B 0.1" in compared.locator(".constant").inner_text()
    assert "loss at the end" in compared.locator(".beside").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the window"


def test_a_list_shows_no_empty_columns_and_no_red_for_a_run_that_came_to_its_end(page_of, report):
    done = {"bad": True, "verdict": verdict_of(report, run="done", outcome="completed", learning="diverged")}
    page = page_of(done, {"verdict": verdict_of(report, run="raised")})
    head = page.locator(".runs thead th:visible").all_inner_texts()
    assert "rate" not in head and "left" not in head
    badge = page.locator(".runs tbody tr", has_text="done").locator(".badge").first
    assert badge.inner_text() == "completed" and "good" in badge.get_attribute("class")
