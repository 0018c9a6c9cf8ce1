#!/usr/bin/env python3
"""Each rule of tidy.py must be able to fail: builds a small tree per rule and looks for its message."""

import pathlib
import tempfile
import unittest

import tidy

PAGE = "# {id}: something\n" + "".join(f"\n## {h}\n1. text\n" for h in tidy.CAUSE_HEADINGS)
REGISTRY = "constexpr CauseEntry kCauses[] = {{\n{rows}}};\n"


def messages(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return tidy.Tidy(root).run()


def rules(rows, folders):
    """rows: id -> whether it names code; folders: id -> whether it has code."""
    lines = [f'    {{"{row}", kStop, "", {"&Weigh" if named else "nullptr"}}},\n' for row, named in rows.items()]
    files = {"src/cause/registry.cc": REGISTRY.format(rows="".join(lines))}
    for folder, has_code in folders.items():
        files[f"src/cause/{folder}/{folder}.md"] = PAGE.format(id=folder)
        if has_code:
            files[f"src/cause/{folder}/{folder}.cc"] = "// Code.\n"
    return files


class TidyTest(unittest.TestCase):
    def says(self, files, *parts):
        found = messages(files)
        self.assertTrue(any(all(part in message for part in parts) for message in found), found)

    def is_quiet(self, files):
        self.assertEqual(messages(files), [])

    def test_a_declaration_knows_its_cause_by_a_sign(self):
        files = {**rules({}, {"lr-odd": False}), "src/cause/lr-odd/lr-odd.cause": "# explains  loss-stuck\n"}
        self.assertTrue(any("declares no sign" in message for message in messages(files)))
        files["src/cause/lr-odd/lr-odd.cause"] = "explains  loss-stuck\n"
        self.assertFalse(any("declares no sign" in message for message in messages(files)))

    def test_bans_name_place_and_replacement(self):
        for ban, line in {
            "number-parsing": "int x = atoi(text);",
            "regex": "std::regex pattern;",
            "shell": "system(command);",
            "exit": "std::exit(1);",
            "printing": "std::cerr << 1;",
            "clock": "auto now = std::chrono::steady_clock::now();",
            "environment": 'getenv("HOME");',
            "detach": "worker.detach();",
            "raw-new": "auto* x = new Thing();",
        }.items():
            self.says({"src/model/a.cc": f"\n{line}\n"}, "src/model/a.cc:2:", ban, "banned here:")
            self.is_quiet({"src/model/a.cc": f"// {line}\nauto x = R\"({line})\";\n"})
            self.is_quiet({"src/model/a.cc": f"{line}  // tidy-allow {ban}: needed by the test.\n"})
            self.says({"src/model/a.cc": f"{line}  // tidy-allow {ban}:\n"}, ban)
        self.says({"src/model/a_test.cc": "sleep(1);\n"}, "sleep is banned here")
        self.says({"src/model/a.cc": "delete thing;\n"}, "raw-new")

    def test_bans_stop_where_the_call_belongs(self):
        self.is_quiet({"src/cli/main.cc": "std::exit(1);\nprintf(text);\n"})
        self.is_quiet({"src/base/clock.cc": "::clock_gettime(id, &now);\n"})
        self.is_quiet({"src/model/a.h": "Fd(const Fd&) = delete;\nint exit_code();\nrun.time(0);\n"})
        self.is_quiet({"src/model/a.cc": "return std::unique_ptr<A>(new A(1));\nauto* a = ::new (memory) A{};\n"})
        self.is_quiet({"src/model/a.cc": "_exit(1);\nstd::snprintf(a, b, c);\n"})

    def test_includes_follow_the_table(self):
        self.says({"src/cause/a.cc": '#include "detect/detector.h"\n'}, "src/cause/a.cc:1:", "may not include detect/")
        self.says({"include/whystop/a.h": '#include "base/fd.h"\n'}, "public header")
        self.is_quiet({"src/stream/a.cc": '#include <sys/stat.h>\n#include "wire/ring.h"\n#include "stream/b.h"\n'})

    def test_sizes_have_limits(self):
        body = "  Work();\n" * 71
        self.says({"src/model/a.cc": "int x;\nclass A {\n public:\n  void F(int x) {\n" + body + "}\n};\n"},
                  "src/model/a.cc:4:", "function of 73 lines")
        self.is_quiet({"src/model/a.cc": "constexpr Row kRows[] = {\n" + "    {1, F(2)},\n" * 90 + "};\n"})
        self.says({"tools/a.py": "x = 1\n" * 601}, "over 600 lines")

    def test_text_is_clean(self):
        self.says({"a.md": "# One\n\n# Two\n"}, "a.md:3:", "2 titles")
        self.is_quiet({"a.md": "# One\n\n```\n# a comment\n```\n"})
        self.says({"a.py": "x = 1 \n"}, "a.py:1:", "trailing space")
        self.says({"a.py": "\tx = 1\n"}, "tab")
        for place in ("/wo" + "rk/main", "/ro" + "ot/x", "/home" + "/jane/x"):
            self.says({"a.txt": f"see {place}\n"}, "a.txt:1:", "one machine")
        self.is_quiet({"a.txt": "/proc/1/root tests/roots/x /home/user/train.py network/workers\n"})
        self.says({"a.txt": "https://regi" + "stry.example.org/x\n"}, "registry")

    def test_rule_folders_are_whole(self):
        self.is_quiet(rules({"a-a": True, "b-b": False}, {"a-a": True, "b-b": False}))
        self.says(rules({"b-b": True, "a-a": True}, {"a-a": True, "b-b": True}), "registry.cc:3:", "sorted")
        self.says(rules({}, {"a-a": True}), "no row for src/cause/a-a")
        self.says(rules({"a-a": False}, {"a-a": True}), "src/cause/a-a has code that its row does not name")
        self.says(rules({"a-a": True}, {"a-a": False}), "names code that is not in that folder")
        self.says(rules({"a-a": True}, {}), "registry.cc:2:", "has no folder src/cause/a-a")
        files = rules({"a-a": False}, {"a-a": False})
        files["src/cause/a-a/a-a.md"] = files["src/cause/a-a/a-a.md"].replace("wrong\n1. text", "wrong\n")
        self.says(files, "a-a.md:1:", "When it is wrong", "missing or empty")
        files = rules({"a-a": False}, {"a-a": False})
        good = files["src/cause/a-a/a-a.md"]
        self.says({**files, "src/cause/a-a/a-a.md": good.replace("do\n1. text", "do\ntext")}, "numbered list")
        self.says({**files, "src/cause/a-a/a-a.md": good.replace("alikes\n1.", "alikes\n`x-y`")}, "look-alike 'x-y'")
        files["src/cause/registry.cc"] = files["src/cause/registry.cc"].replace('""', '"a-a x-y"')
        self.says(files, "registry.cc:2:", "leads to 'x-y'")
        files = rules({"a-a": True}, {"a-a": True})
        code = "src/cause/a-a/a-a.cc"
        self.is_quiet({**files, code: 'void A() { Use(0.0, "at 0.5"); }  // 0.5\n'})
        self.says({**files, code: "bool A(double x) { return x > 0.5; }\n"}, "a-a.md:1:", "Thresholds", "missing or empty")
        self.says({**files, code: "constexpr int kStepsMin = 5;\n"}, "a-a.md:1:", "Thresholds")
        files["src/cause/a-a/cases/fires_x.case"] = "# x\n"
        self.says(files, "two quiet_")

    def test_one_type_name_stands_in_one_header(self):
        files = rules({}, {})
        files["src/base/a.h"] = "#pragma once\nstruct Facts {\n};\n"
        self.says({**files, "src/model/b.h": files["src/base/a.h"]}, "src/model/b.h:2:", "another name")

    def test_the_probes_house_knows_no_framework(self):
        house = "python/whystop_probe"
        self.says({f"{house}/core/tap.py": "\nx = 'torch.Tensor'\n"}, "core/tap.py:2:", "names a framework ('torch')")
        self.says({f"{house}/core/_pulse.c": "/* As Keras has it. */\n"}, "names a framework ('Keras')")
        self.says({f"{house}/loop/watch.py": "import whystop_probe.keras.fit\n"}, "loop/ may not import keras/")
        self.says({f"{house}/torch/probe.py": "from whystop_probe.keras import fit\n"}, "torch/ may not import keras/ (only core, loop")
        self.is_quiet({f"{house}/torch/probe.py": "from whystop_probe.core import ring\nfrom whystop_probe.loop import watch\n"})
        self.is_quiet({f"{house}/on_import.py": "from whystop_probe.torch import probe\n"})


if __name__ == "__main__":
    unittest.main()
