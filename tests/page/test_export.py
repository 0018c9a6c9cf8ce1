"""`whystop export`: what other programs read of it."""

import csv
import json
import math
import sqlite3

import pytest
from conftest import whystop


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "train.csv"
    rows = ["step,loss,val_loss,=1+1"] + [f"{i},{1 / (i + 1)},{'nan' if i == 5 else 0.5},1" for i in range(20)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_csv_is_read_by_python(log):
    rows = list(csv.DictReader(whystop("export", log).stdout.splitlines()))
    losses = [row for row in rows if row["series"] == "loss"]
    assert [int(row["step"]) for row in losses] == list(range(20))
    assert float(losses[3]["value"]) == 0.25
    assert math.isnan(float(next(row for row in rows if row["series"] == "val_loss" and row["step"] == "5")["value"]))
    assert {row["role"] for row in losses} == {"train-loss"}
    assert all(not row["series"].startswith("=") for row in rows), "a spreadsheet would compute it"


def test_json_lines_are_json(log):
    rows = [json.loads(line) for line in whystop("export", log, "--json").stdout.splitlines()]
    assert {"series": "loss", "step": 0, "value": 1.0}.items() <= rows[0].items()
    assert any(row["value"] == "NaN" for row in rows)


def test_sqlite_answers_questions(home, tmp_path):
    file = tmp_path / "a run.sqlite"
    whystop("export", home / "finished", "--format", "sqlite", "-o", file)
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*), max(step) FROM scalars WHERE series = 'loss'").fetchone() == (60, 60)
        assert database.execute("SELECT count(*) FROM readings WHERE quantity = 'tree.rss_bytes'").fetchone()[0] > 0
        verdict = json.loads(database.execute("SELECT value FROM run WHERE key = 'verdict'").fetchone()[0])
        assert verdict["outcome"] == "completed"
    again = whystop("export", home / "finished", "--format", "sqlite", "-o", file, check=False)
    assert again.returncode == 2 and "already" in again.stderr


def test_tensorboard_files_come_back_as_they_went(log, tmp_path):
    """Our own reader verifies every checksum; bench/events_bench.py holds it against TensorBoard's."""
    folder = tmp_path / "events"
    whystop("export", log, "--format", "tensorboard", "-o", folder)
    rows = [json.loads(line) for line in whystop("export", folder, "--json").stdout.splitlines()]
    losses = [(row["step"], round(row["value"], 6)) for row in rows if row["series"] == "loss"]
    assert losses == [(i, round(1 / (i + 1), 6)) for i in range(20)]


def test_resources_are_added_when_asked_for(home):
    plain = whystop("export", home / "finished").stdout
    more = whystop("export", home / "finished", "--resources").stdout
    assert "tree.rss_bytes" not in plain and "job/tree.rss_bytes" in more


def test_an_unknown_format_is_refused(log):
    refused = whystop("export", log, "--format", "xlsx", check=False)
    assert refused.returncode == 2 and "tensorboard" in refused.stderr


def test_a_figure_without_a_step_goes_to_tensorboard_at_the_step_before_it(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} loss {2 / i:.4f}\n" + (f"validation loss {3 / i:.4f}\n" if i % 10 == 0 else "") for i in range(1, 41)))
    folder = tmp_path / "events"
    whystop("export", log, "--format", "tensorboard", "-o", folder)
    rows = [json.loads(line) for line in whystop("export", folder, "--json").stdout.splitlines()]
    assert [row["step"] for row in rows if row["series"] == "validation loss"] == [10, 20, 30, 40]
