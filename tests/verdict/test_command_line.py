"""What people meet at the command line: help, typing mistakes, missing things."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import ROOT, WHYSTOP

def call(*arguments, **options):
    return subprocess.run(
        [WHYSTOP, *arguments], capture_output=True, text=True, errors="replace", check=False, **options
    )


def commands_of_the_help():
    shown = call("--help").stdout
    return re.findall(r"^  ([a-z-]+)  ", shown.split("Subcommands:")[1], re.MULTILINE)


COMMANDS = commands_of_the_help()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    done = call(command, "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout and f"whystop {command}" in done.stdout


def test_without_arguments_it_prints_its_help():
    done = call()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == call("--help").stdout
    assert {"run", "why", "runs"} <= set(COMMANDS)


def test_a_misspelt_command_gets_its_nearest_match():
    done = call("explan")
    assert done.returncode == 2
    assert "did you mean 'explain'?" in done.stderr


def test_a_misspelt_cause_gets_its_nearest_match():
    done = call("explain", "cgroup-oom-kil")
    assert done.returncode == 2
    assert "did you mean 'cgroup-oom-kill'?" in done.stderr


def test_explain_prints_the_page():
    done = call("explain", "cgroup-oom-kill")
    assert done.returncode == 0
    assert "## When it is wrong" in done.stdout


def test_a_command_that_is_not_there_gives_127(tmp_path):
    done = call("run", "--dir", tmp_path / "r", "--", "no-such-program")
    assert done.returncode == 127
    assert "no-such-program" in done.stderr


def test_a_command_that_cannot_be_executed_gives_126(tmp_path):
    script = tmp_path / "script"
    script.write_text("echo hello\n")
    done = call("run", "--dir", tmp_path / "r", "--", script)
    assert done.returncode == 126


def test_no_recording_says_what_to_do(tmp_path):
    done = call("why", env={**os.environ, "WHYSTOP_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert "whystop run -- COMMAND" in done.stderr


def test_a_place_that_cannot_be_written_costs_the_recording_only(tmp_path):
    (tmp_path / "file").write_text("")
    done = call("run", "--dir", tmp_path / "file" / "r", "--", "echo", "still here")
    assert done.returncode == 0
    assert done.stdout == "still here\n"
    assert "without a recording" in done.stderr


def test_a_folder_in_use_is_refused_with_the_other_pid(tmp_path):
    first = subprocess.Popen([WHYSTOP, "run", "--dir", tmp_path / "r", "--", "sh", "-c", "echo up; read x"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first.stdout.readline()
    second = call("run", "--dir", tmp_path / "r", "--", "echo", "never")
    first.communicate(b"\n")
    assert second.returncode == 125
    assert "being written by process" in second.stderr
    assert second.stdout == ""


def test_the_newest_recording_is_the_default(tmp_path):
    environment = {**os.environ, "WHYSTOP_HOME": str(tmp_path)}
    call("run", "--", "sh", "-c", "exit 0", env=environment)
    call("run", "--", "sh", "-c", "exit 4", env=environment)
    verdict = json.loads(call("why", "--json", env=environment).stdout)
    assert verdict["exit"]["code"] == 4
    listed = call("runs", "--json", env=environment).stdout.splitlines()
    assert len(listed) == 2


@pytest.fixture
def home(tmp_path):
    """Three recordings in a home of their own, named against the order in which they ran."""
    environment = {**os.environ, "WHYSTOP_HOME": str(tmp_path / "home"), "TZ": "UTC"}
    for name, status in (("20261117-010000-cafe", 3), ("20261117-010000-beef", 0), ("20251224-000000-0bad", 4)):
        call("run", "-q", "--dir", tmp_path / "home" / name, "--", "sh", "-c", f"exit {status}", env=environment)
    return lambda *arguments: call(*arguments, env=environment, cwd=tmp_path)


def test_runs_are_listed_by_time_the_newest_last(home):
    listed = home("runs").stdout.splitlines()
    assert [line.split()[0][-4:] for line in listed] == ["cafe", "beef", "0bad"]
    for line in listed:
        run, day, clock, duration, unit, size, bytes_unit, state, headline = line.split(maxsplit=8)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", f"{day} {clock}")
        assert float(duration) >= 0 and unit == "s"
        assert float(size) > 0 and bytes_unit.endswith("iB")
    assert (state, headline) == ("stopped-early", listed[-1].split("stopped-early")[1].strip())
    assert "status 4" in headline
    told = [json.loads(line) for line in home("runs", "--json").stdout.splitlines()]
    assert [run["run"] for run in told] == ["20261117-010000-cafe", "20261117-010000-beef", "20251224-000000-0bad"]
    assert sorted(run["started"] for run in told) == [run["started"] for run in told]
    assert all(run["bytes"] > 0 for run in told)


@pytest.mark.parametrize("name,status", [
    ("20261117-010000-cafe", 3), ("20261117-010000-c", 3), ("cafe", 3), ("ca", 3), ("000000-0bad", 4), ("2025", 4),
])
def test_a_run_is_found_by_so_much_of_its_id_that_no_other_is_meant(home, name, status):
    assert json.loads(home("why", "--json", name).stdout)["exit"]["code"] == status


@pytest.mark.parametrize("command", [
    ["why"], ["why", "--follow"], ["inspect"], ["report", "-o", "-"], ["export"], ["top", "--once"], ["serve"], ["try"],
])
def test_a_name_of_several_runs_is_refused_with_their_ids(home, command):
    done = home(*command, "20261117")
    assert done.returncode == 2
    assert "'20261117' may be any of 2 recordings" in done.stderr
    assert "20261117-010000-cafe" in done.stderr and "20261117-010000-beef" in done.stderr


def test_a_file_goes_before_a_run_whose_id_begins_so(home, tmp_path):
    (tmp_path / "2025").write_text("step 1 loss 0.5\nTraceback (most recent call last):\nValueError: from the file\n")
    assert "from the file" in home("why", "2025").stdout


def test_quiet_prints_nothing_of_our_own(tmp_path):
    done = call("run", "--quiet", "--dir", tmp_path / "r", "--", "sh", "-c", "echo out; echo err >&2")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_nested_runs_keep_the_exit_status(tmp_path):
    done = call("run", "-q", "--dir", tmp_path / "outer", "--", WHYSTOP, "run", "-q", "--dir", tmp_path / "inner", "--",
                "sh", "-c", "echo deep; exit 7")
    assert done.returncode == 7
    assert done.stdout == "deep\n"


def test_files_of_a_recording_are_the_owners_only(tmp_path):
    call("run", "-q", "--dir", tmp_path / "r", "--", "true")
    for path in [tmp_path / "r", *(tmp_path / "r").iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_binary_output_and_nan_still_give_valid_json(tmp_path):
    call("run", "-q", "--dir", tmp_path / "r", "--", "python3", "-c",
         "import os; os.write(2, bytes(range(256)) * 4); raise ValueError('\\udcff\\x00 odd')")
    json.loads(call("why", "--json", tmp_path / "r").stdout)


def test_a_verdict_follows_the_published_schema(tmp_path):
    schema = json.loads((ROOT / "docs" / "verdict.schema.json").read_text())
    call("run", "-q", "--dir", tmp_path / "r", "--", "sh", "-c", "kill -9 $$")
    verdict = json.loads(call("why", "--json", tmp_path / "r").stdout)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(verdict, schema)


def test_secrets_are_not_recorded(tmp_path):
    environment = {**os.environ, "WANDB_API_KEY": "s3cr3t-in-env"}
    # Long enough for the sensors to see the process and its arguments.
    call("run", "-q", "--dir", tmp_path / "r", "--", "sh", "-c", "sleep 0.5", "--api-key=s3cr3t-in-args", env=environment)
    recorded = b"".join(path.read_bytes() for path in pathlib.Path(tmp_path / "r").iterdir() if path.is_file())
    assert b"s3cr3t" not in recorded


def test_inspect_tells_what_the_detectors_saw(tmp_path):
    lines = "\n".join(f"step {step} loss {'nan' if step > 20 else 2 / (step + 1)}" for step in range(40))
    (tmp_path / "lines.txt").write_text(lines + "\n")
    call("run", "--quiet", "--dir", tmp_path / "r", "--", "cat", tmp_path / "lines.txt")
    findings = [json.loads(line) for line in call("inspect", "--findings", tmp_path / "r").stdout.splitlines()]
    (lost,) = [finding for finding in findings if finding["detector"] == "loss/not-finite"]
    assert lost["step_from"] == 21 and "loss" in lost["series"]
