"""Jobs that end by their own doing: well, by an exception, or for lack of something."""

import subprocess
import sys

import pytest
from conftest import WHYSTOP


def test_a_healthy_job_gets_no_finding(watched):
    watched.run("sh", "-c", "echo fine")
    verdict = watched.verdict
    assert watched.done.stdout == b"fine\n"
    assert verdict["outcome"] == "completed"
    assert not [cause for cause in verdict["causes"] if cause["fault"]]


def test_an_exception_names_type_message_and_the_users_line(watched, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("def step(n):\n    return [1, 2][n]\n\nfor i in range(3):\n    step(i)\n")
    watched.run(sys.executable, script)
    root = watched.verdict["causes"][0]
    assert watched.done.returncode == 1
    assert watched.verdict["outcome"] == "raised"
    assert root["id"] == "uncaught-exception"
    text = root["evidence"][0]["text"]
    assert "IndexError: list index out of range" in text
    assert "train.py:2" in text and "return [1, 2][n]" in text


def test_an_exception_that_was_handled_is_no_cause(watched):
    watched.python(
        "import traceback\n"
        "for i in range(5):\n"
        "    print(f'step {i}/5 loss {1 / (i + 1)}', flush=True)\n"
        "    if i == 2:\n"
        "        try:\n"
        "            raise OSError('a download failed')\n"
        "        except OSError:\n"
        "            traceback.print_exc()\n"
    )
    verdict = watched.verdict
    assert verdict["outcome"] == "completed"
    assert "uncaught-exception" not in watched.causes


def test_a_status_without_a_word_is_reported_as_the_programs_own(watched):
    watched.run("sh", "-c", "exit 3")
    verdict = watched.verdict
    assert verdict["outcome"] == "stopped-early"
    assert verdict["exit"]["code"] == 3


def test_memory_refused_is_told_from_a_kill(watched):
    watched.run("sh", "-c", f"ulimit -v 200000; '{sys.executable}' -c 'x = bytearray(10**9)'")
    assert watched.verdict["outcome"] == "raised"
    assert watched.roots == ["host-alloc-failed"]


def test_too_many_open_files(watched):
    watched.run("sh", "-c", f"ulimit -n 64; '{sys.executable}' -c 'f = [open(\"/dev/null\") for _ in range(200)]'")
    assert watched.roots == ["fd-exhausted"]


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("no right to mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def test_a_full_disk_is_named(watched, small_disk):
    watched.python(f"open({str(small_disk / 'checkpoint')!r}, 'wb').write(bytes(32 << 20))")
    assert watched.verdict["outcome"] == "raised"
    assert watched.roots == ["disk-full"]


def test_a_recording_on_the_full_disk_still_tells_the_end(small_disk, tmp_path):
    folder = small_disk / "recording"
    script = f"open({str(small_disk / 'checkpoint')!r}, 'wb').write(bytes(32 << 20))"
    done = subprocess.run([WHYSTOP, "run", "--dir", folder, "--", sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 1
    judged = subprocess.run([WHYSTOP, "why", folder], capture_output=True, text=True, check=False)
    assert "disk-full" in judged.stdout, judged.stdout


def test_slurm_lines_name_the_scheduler(watched):
    line = "slurmstepd: error: *** JOB 4711 ON node01 CANCELLED AT 2024-05-01T12:00:00 DUE TO TIME LIMIT ***"
    watched.run("sh", "-c", f"echo '{line}' >&2; kill -TERM $$")
    assert watched.roots == ["scheduler-time-limit"]
    assert watched.verdict["outcome"] == "killed"
