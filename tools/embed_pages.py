#!/usr/bin/env python3
"""Turns src/cause/*/*.md into one C++ source: the pages that `whystop explain` prints."""

import pathlib
import re
import sys


def literal(text: str) -> str:
    # Raw string literals are limited to 65536 bytes by the standard; pages are far smaller.
    return 'R"page(' + text + ')page"'


def title_of(text: str, path: pathlib.Path) -> str:
    first = text.splitlines()[0]
    match = re.fullmatch(r"# ([a-z0-9-]+): (.+)", first)
    if not match or match.group(1) != path.stem:
        sys.exit(f"{path}: the first line must be '# {path.stem}: what went wrong in a few words'")
    return match.group(2)


def fixes_of(text: str, heading: str) -> list:
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not section:
        return []
    items = re.findall(r"^\d+\. (.*?)(?=^\d+\. |\Z)", section.group(1), re.M | re.S)
    return [" ".join(item.split()) for item in items]


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    pages = sorted(folder.glob("*/*.md"), key=lambda path: path.stem)
    lines = ['#include "cause/cause.h"', "", "namespace whystop {", "namespace {", ""]
    rows = []
    for index, path in enumerate(pages):
        text = path.read_text(encoding="utf-8")
        references = []
        for name, heading in (("kFixes", "What to do"), ("kNativeFixes", "What to do in C and C++")):
            fixes = fixes_of(text, heading)
            if fixes:
                lines.append(f"constexpr std::string_view {name}{index}[] = {{")
                lines += [f"    {literal(fix)}," for fix in fixes]
                lines.append("};")
            references.append(f"{name}{index}" if fixes else "{}")
        rows.append(
            f'    {{"{path.stem}", {literal(title_of(text, path))},\n     {literal(text)},\n     {", ".join(references)}}},'
        )
    lines += ["", "constexpr CausePage kPages[] = {"] + rows + ["};", "", "}  // namespace", ""]
    lines += ["std::span<const CausePage> AllPages() { return kPages; }", "", "}  // namespace whystop", ""]
    out.write_text("\n".join(lines), encoding="utf-8")


main()
