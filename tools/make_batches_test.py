#!/usr/bin/env python3
"""Files that would change each other's meaning must not meet in a batch; files that would not should."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import make_batches

TOOL = pathlib.Path(make_batches.__file__)


def in_whystop(unnamed: str, rest: str = "", before: str = "") -> str:
    return f"{before}\nnamespace whystop {{\nnamespace {{\n{unnamed}\n}}  // namespace\n{rest}\n}}  // namespace whystop\n"


def batches_of(*texts: str, **headers: str) -> list:
    """The batches of the files 0.cc, 1.cc and so on with these texts, each as its files' numbers."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in headers.items():
            (root / f"{name}.h").write_text(text)
        for index, text in enumerate(texts):
            (root / f"{index}.cc").write_text(text)
        known = {}
        sources = [make_batches.Source(root / f"{index}.cc", root, known) for index in range(len(texts))]
        return [[int(source.name[:-3]) for source in batch] for batch in make_batches.gather(sources)]


class MakeBatchesTest(unittest.TestCase):
    def meet(self, *texts, **headers):
        self.assertEqual(batches_of(*texts, **headers), [list(range(len(texts)))])

    def part(self, *texts, **headers):
        self.assertEqual(batches_of(*texts, **headers), [[index] for index in range(len(texts))])

    def test_files_with_names_of_their_own_meet(self):
        self.meet(in_whystop("constexpr int kOne = 1;"), in_whystop("constexpr int kTwo = 2;"))

    def test_the_same_private_name_parts_them_whatever_it_names(self):
        for declared in ("constexpr double kMin = 3;", "constexpr std::array<int, 2> kMin{1, 2};", "const char kMin[] = {1};",
                         "struct kMin final : Base {};", "enum class kMin : int { kA };", "enum { kOther, kMin = 2 };",
                         "using kMin = std::vector<int>;", "template <typename T> T kMin(T of) { return of; }", "int kMin;"):
            with self.subTest(declared):
                self.part(in_whystop(declared), in_whystop("int kMin = 4;"))

    def test_a_private_name_that_the_other_uses_without_declaring_it_parts_them(self):
        self.part(in_whystop("bool Known(int) { return true; }"), in_whystop("", "bool F() { return Known(1.5); }"))

    def test_a_private_name_that_the_others_header_uses_parts_them(self):
        header = "namespace whystop {\ninline bool F() { return Known(1.5); }\n}\n"
        self.part(in_whystop("bool Known(int) { return true; }"), in_whystop("", before='#include "f.h"'), f=header)

    def test_members_and_names_that_say_whose_they_are_do_not_clash(self):
        self.meet(in_whystop("int Size() { return 1; }"), in_whystop("", "auto F(A a, B* b) { return a.Size + b->Size + C::Size; }"))

    def test_names_inside_functions_comments_and_text_do_not_clash(self):
        other = 'int F() { return 1; }  // Local(1)\nconst char* G() { return "Local"; }\nauto H() { return R"x(Local "))x"; }'
        self.meet(in_whystop("int Own() { int Local = 1; return Local; }"), in_whystop("", other))

    def test_what_follows_a_digit_separator_or_a_quote_is_seen(self):
        self.part(in_whystop("int a = 1'000'000; char b = '\"'; int kMin = 2;"), in_whystop("int kMin = 4;"))

    def test_base_classes_and_short_names_for_others_are_everybodys(self):
        text = "namespace fs = std::filesystem;\nusing std::chrono::seconds;\nclass {0} final : public Sink {{}};"
        self.meet(in_whystop(text.format("A")), in_whystop(text.format("B")))

    def test_a_static_function_is_private_too(self):
        self.part("static int Own() { return 1; }\n", "static int Own() { return 2; }\n")

    def test_a_file_with_macros_stays_alone(self):
        self.part("#define WIDE 1\n", "int F();\n")

    def test_a_batch_is_bounded(self):
        long = "\n" * (make_batches.LINES_MAX // 2 + 1)
        self.part(long, long)

    def test_files_are_written_once_and_a_plan_that_is_too_small_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "a b")
            root.mkdir()
            sources = [root / "0.cc", root / "1.cc"]
            for source in sources:
                source.write_text(in_whystop("int kMin = 4;"))

            def run(count):
                return subprocess.run([sys.executable, TOOL, root, root / "out" / "x_", str(count), *sources],
                                      capture_output=True, text=True, check=False)

            self.assertEqual(run(0).stdout, "2\n")
            self.assertEqual(run(3).returncode, 0)
            made = sorted((root / "out").iterdir())
            self.assertEqual([path.read_text() for path in made], ['#include "0.cc"\n', '#include "1.cc"\n', ""])
            times = [path.stat().st_mtime_ns for path in made]
            self.assertEqual(run(3).returncode, 0)
            self.assertEqual(times, [path.stat().st_mtime_ns for path in made])
            self.assertIn("run cmake again", run(1).stderr)


if __name__ == "__main__":
    unittest.main()
