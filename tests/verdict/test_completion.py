"""Completion scripts and the manual page tell all that `--help` tells; bash is asked for real."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import WHYSTOP

SHELLS = ["bash", "zsh", "fish"]


def call(*arguments, **options):
    return subprocess.run([WHYSTOP, *arguments], capture_output=True, text=True, check=True, **options).stdout


def helped() -> dict:
    """Every command with its options, as the help tells them."""
    shown = call("--help").split("Subcommands:")[1]
    commands = re.findall(r"^  ([a-z-]+)  ", shown, re.MULTILINE)
    options = {}
    for command in commands:
        lines = re.findall(r"^  (-[-a-z,]+)", call(command, "--help"), re.MULTILINE)
        options[command] = {name for line in lines for name in line.split(",")}
    return options


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_the_script(shell):
    script = call("completion", shell)
    for command, names in helped().items():
        assert re.search(rf"\b{command}\b", script), command
        for name in names:
            word = name.lstrip("-")
            wanted = {"fish": rf"{command}'.* -{'l' if name.startswith('--') else 's'} {word}\b"}.get(shell, re.escape(name))
            assert re.search(wanted, script), f"{command} {name}"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_sound(shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    done = subprocess.run([shell, "-n"], input=call("completion", shell), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def completed(folder, *words) -> set:
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in words)
    script = (f"source <('{WHYSTOP}' completion bash)\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n"
              "_whystop 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    environment = {**os.environ, "PATH": f"{WHYSTOP.parent}:{os.environ['PATH']}", "WHYSTOP_HOME": str(folder / "home")}
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, env=environment, cwd=folder)
    return set(done.stdout.split())


def test_bash_offers_what_fits(tmp_path):
    (tmp_path / "train.log").write_text("")
    (tmp_path / "home").mkdir()
    call("run", "-q", "--dir", tmp_path / "home" / "20261117-010203-cafe", "--", "true")
    assert completed(tmp_path, "whystop", "") >= set(helped())
    assert completed(tmp_path, "whystop", "ru") == {"run", "runs"}
    assert completed(tmp_path, "whystop", "prune", "--") >= {"--older", "--keep", "--max-size", "--dry-run", "--json"}
    assert completed(tmp_path, "whystop", "run", "--on-hang", "re") == {"report", "restart"}
    assert completed(tmp_path, "whystop", "why", "2026") == {"20261117-010203-cafe"}
    assert completed(tmp_path, "whystop", "why", "train") == {"train.log"}
    assert completed(tmp_path, "whystop", "explain", "cgroup-") == {"cgroup-oom-kill"}
    assert completed(tmp_path, "whystop", "run", "--dir", "ho") == {"home"}
    assert completed(tmp_path, "whystop", "completion", "") == set(SHELLS)
    assert "sort" in completed(tmp_path, "whystop", "run", "--", "sor")


def test_the_manual_page_tells_every_command_and_option():
    page = call("man-page").replace("\\-", "-")
    for command, names in helped().items():
        section = re.search(rf"\.SS \\fBwhystop {command}\\fR.*?(?=\n\.S[SH] )", page, re.DOTALL)
        assert section, command
        for name in names:
            assert f"\\fB{name}\\fR" in section.group(), f"{command} {name}"


def test_the_manual_page_is_sound():
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=call("man-page"), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "whystop run -- python train.py" in re.sub(r"\x1b\[\d*m", "", done.stdout)
