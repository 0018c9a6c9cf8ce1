"""Functions and lines of addresses, compared with addr2line's, and what a verdict makes of them."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve()
SOURCE = """
#include <cstdio>
#include <vector>
namespace net {
struct Layer {
  std::vector<float> weights;
  __attribute__((noinline)) float Backward(float* gradient, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += weights[i] * gradient[i];
      gradient[i] = sum;
    }
    return sum;
  }
};
}
int main(int count, char**) {
  net::Layer layer{std::vector<float>(8, 1.0f)};
  std::puts("step 1/9 loss 0.5");
  std::fflush(stdout);
  return layer.Backward(count > 8 ? layer.weights.data() : nullptr, 8) > 0;
}
"""
needs_compiler = pytest.mark.skipif(not (shutil.which("g++") and shutil.which("addr2line")), reason="no g++ or binutils")


def compiled(folder, *options):
    (folder / "train.cc").write_text(SOURCE)
    subprocess.run(["g++", *options, "train.cc", "-o", "train"], cwd=folder, check=True)
    return folder / "train"


def code_addresses(program):
    listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and words[3] not in ("_init", "_fini", "_start"):
            yield from range(int(words[0], 16), int(words[0], 16) + int(words[1], 16), 3)


@needs_compiler
@pytest.mark.parametrize("options", [["-g", "-O0"], ["-g", "-O2"], ["-gdwarf-4", "-O1"], ["-gdwarf-3"], ["-gdwarf-2"], ["-O2"], ["-g1", "-no-pie"]])
def test_places_are_those_of_addr2line(options, tmp_path):
    program = compiled(tmp_path, *options)
    addresses = list(code_addresses(program))
    assert len(addresses) > 20
    asked = "\n".join(f"{address:x}" for address in addresses)
    known = subprocess.run(["addr2line", "-f", "-C", "-e", program], input=asked, capture_output=True, text=True, check=True)
    lines = known.stdout.splitlines()
    with_lines = 0
    for at, address in enumerate(addresses):
        told = subprocess.run([BUILD / "place_of", program, f"{address:x}"], capture_output=True, text=True, check=True)
        function, place = told.stdout.splitlines()
        line = lines[2 * at + 1].split(" (discriminator")[0]
        if not line.startswith("??") and not line.endswith(":?"):
            with_lines += 1
            assert place.rsplit(":", 1)[1] == line.rsplit(":", 1)[1], (hex(address), place, line)
            file = line.rsplit(":", 1)[0].rsplit("/", 1)[-1]
            beyond = file == "train.cc" and int(line.rsplit(":", 1)[1]) > SOURCE.count("\n")  # Some versions name the wrong file.
            assert beyond or place.rsplit(":", 1)[0].rsplit("/", 1)[-1] == file
        if "-O0" in options:
            assert function == lines[2 * at]  # addr2line names what was inlined; the table of symbols cannot.
    assert (with_lines > 0) == any(option.startswith("-g") for option in options)


def test_a_file_that_is_cut_anywhere_says_nothing_wrong(tmp_path):
    if not shutil.which("g++"):
        pytest.skip("no g++")
    program = compiled(tmp_path, "-g")
    address = next(code_addresses(program))
    whole = program.read_bytes()
    for share in range(0, 40):
        (tmp_path / "cut").write_bytes(whole[: len(whole) * share // 40])
        told = subprocess.run([BUILD / "place_of", tmp_path / "cut", f"{address:x}"], capture_output=True, text=True, check=False)
        assert told.returncode in (0, 2), told


@needs_compiler
def test_a_verdict_names_function_and_line_of_a_crash(tmp_path):
    compiled(tmp_path, "-g", "-O1")
    os.utime(tmp_path / "train", (1, 1))
    whystop = [BUILD / "whystop"]
    subprocess.run([*whystop, "run", "--quiet", "--dir", tmp_path / "r", "--", "./train"], cwd=tmp_path, capture_output=True, check=False)
    told = subprocess.run([*whystop, "why", "--json", tmp_path / "r"], capture_output=True, text=True, check=False)
    (cause,) = [one for one in json.loads(told.stdout)["causes"] if one["id"] == "segfault"]
    if not any(one["kind"] == "kernel-log" for one in cause["evidence"]):
        pytest.skip("the kernel log cannot be read here")
    (place,) = [one for one in cause["evidence"] if one["kind"] == "symbols"]
    assert not any("Python" in fix or "torch" in fix for fix in cause["fixes"])
    assert place["text"] == "it was in net::Layer::Backward(float*, int) of train"
    assert place["file"].endswith("train.cc") and place["line"] == 10
    compiled(tmp_path, "-O2")  # Built anew: its addresses are not those of the run.
    told = subprocess.run([*whystop, "why", "--json", tmp_path / "r"], capture_output=True, text=True, check=False)
    assert "Backward" not in told.stdout
