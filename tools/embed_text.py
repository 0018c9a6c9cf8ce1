#!/usr/bin/env python3
"""Turns a text file into one C++ source that defines it as a std::string_view in namespace whystop."""

import pathlib
import sys

PIECE_BYTES = 8192  # Compilers need not take longer literals; neighbouring ones are joined.


def main() -> None:
    source, out, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    text = source.read_text(encoding="utf-8")
    pieces = [text[at : at + PIECE_BYTES] for at in range(0, len(text), PIECE_BYTES)]
    lines = ["#include <string_view>", "", "namespace whystop {", "", f"extern const std::string_view {name};"]
    lines.append(f"const std::string_view {name} =")
    lines += [f'    R"file({piece})file"' for piece in pieces] or ['    ""']
    lines += ["    ;", "", "}  // namespace whystop", ""]
    out.write_text("\n".join(lines), encoding="utf-8")


main()
