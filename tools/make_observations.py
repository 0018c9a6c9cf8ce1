#!/usr/bin/env python3
"""Makes what follows from src/model/observations.tsv.

    make_observations.py TABLE header OUT.h     C++ structs with std::optional members, one a kind
    make_observations.py TABLE source OUT.cc    how they are read, and the schema as a table
    make_observations.py TABLE docs PAGE.md     rewrites the tables of docs/observations.md
    make_observations.py TABLE check PAGE.md    says whether the page is what `docs` would write; status 1 if not
"""

import pathlib
import re
import sys
from typing import NamedTuple

TYPES = {"text": "std::string", "number": "double", "whole": "std::int64_t", "yes": "bool"}
KEYWORDS = {"class", "default", "new", "this", "template", "operator", "for", "while", "if"}


class Kind(NamedTuple):
    section: str
    name: str
    attributes: "dict[str, str]"  # name -> type
    open: bool  # Other names may come as well.
    prose: str

    @property
    def struct(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("-"))


def read_table(path: pathlib.Path) -> "list[Kind]":
    kinds = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4:
            sys.exit(f"{path}:{number}: four fields wanted (section, kind, attributes, what it says), {len(fields)} found")
        section, name, attributes, prose = fields
        words = attributes.split()
        types = dict(word.split(":", 1) if ":" in word else (word, "") for word in words if word != "*")
        for attribute, kind in types.items():
            if kind not in TYPES:
                sys.exit(f"{path}:{number}: {attribute}: the type is one of {', '.join(TYPES)}")
            families = [attribute, attribute.split("_")[0] + "_*"]
            if not any(f"`{word}`" in prose for word in families):
                sys.exit(f"{path}:{number}: the text does not mention `{attribute}`")
        kinds.append(Kind(section, name, types, "*" in words, prose))
    names = [kind.name for kind in kinds]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"{path}: twice: {', '.join(sorted(twice))}")
    return kinds


def member(name: str) -> str:
    return name.lower() + ("_" if name in KEYWORDS else "")


def header(kinds: "list[Kind]") -> str:
    lines = [
        "// Made from src/model/observations.tsv by tools/make_observations.py.",
        "#pragma once",
        "#include <cstdint>",
        "#include <optional>",
        "#include <string>",
        "#include <string_view>",
        '#include "model/event.h"',
        "namespace whystop {",
        "/// The typed view of an observation: As<seen::LoopExit>(observation). What is absent is std::nullopt.",
        "template <typename T>",
        "T As(const Observation& from);",
        "/// Of an observation that may not have been made: then all of it is absent.",
        "template <typename T>",
        "T As(const Observation* from) {",
        "  return from == nullptr ? T{} : As<T>(*from);",
        "}",
    ]
    for kind in kinds:
        lines.append("namespace seen {")
        lines.append(f"struct {kind.struct} {{")
        lines.append(f'  static constexpr std::string_view kKind = "{kind.name}";')
        lines += [f"  std::optional<{TYPES[of]}> {member(name)} = {{}};" for name, of in kind.attributes.items()]
        lines += ["};", "}  // namespace seen", "template <>"]
        lines.append(f"seen::{kind.struct} As<seen::{kind.struct}>(const Observation& from);")
    return "\n".join(lines + ["}  // namespace whystop", ""])


def source(kinds: "list[Kind]") -> str:
    readers = {"text": "TextAt", "number": "NumberAt", "whole": "WholeAt", "yes": "YesAt"}
    lines = [
        "// Made from src/model/observations.tsv by tools/make_observations.py.",
        '#include "model/observations.h"',
        '#include "model/observation_reading.h"',
        '#include "model/observation_schema.h"',
        "namespace whystop {",
    ]
    for kind in kinds:
        lines.append("template <>")
        lines.append(f"seen::{kind.struct} As<seen::{kind.struct}>([[maybe_unused]] const Observation& from) {{")
        lines.append(f"  seen::{kind.struct} made;")
        lines += [f'  made.{member(name)} = {readers[of]}(from, "{name}");' for name, of in kind.attributes.items()]
        lines += ["  return made;", "}"]
    lines.append("namespace {")
    for kind in kinds:
        rows = ", ".join(f'{{"{name}", ObservationType::k{of.capitalize()}}}' for name, of in kind.attributes.items())
        if kind.attributes:
            lines.append(f"constexpr ObservationAttribute k{kind.struct}[] = {{{rows}}};")
    lines.append("constexpr ObservationKind kKinds[] = {")
    for kind in kinds:
        attributes = f"k{kind.struct}" if kind.attributes else "{}"
        lines.append(f'    {{"{kind.name}", {attributes}, {str(kind.open).lower()}}},')
    lines += ["};", "}  // namespace", "std::span<const ObservationKind> AllObservationKinds() { return kKinds; }"]
    return "\n".join(lines + ["}  // namespace whystop", ""])


def page(kinds: "list[Kind]", text: str) -> str:
    """The page with the table of each section made anew."""
    for section in dict.fromkeys(kind.section for kind in kinds):
        rows = [f"| `{kind.name}` | {kind.prose} |" for kind in kinds if kind.section == section]
        table = "\n".join(["| kind | attributes |", "| --- | --- |"] + rows)
        pattern = re.compile(rf"(^## {re.escape(section)}\n\n(?:[^|#\n].*\n+)*)(?:\|.*\n+)+", re.MULTILINE)
        text, count = pattern.subn(lambda found: found.group(1) + table + "\n\n", text)
        if count == 0:
            text = text.rstrip("\n") + f"\n\n## {section}\n\n{table}\n\n"
    return text.rstrip("\n") + "\n"


def main() -> int:
    table, what, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    kinds = read_table(table)
    if what in ("header", "source"):
        text = header(kinds) if what == "header" else source(kinds)
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists() or out.read_text(encoding="utf-8") != text:
            out.write_text(text, encoding="utf-8")
        return 0
    before = out.read_text(encoding="utf-8")
    after = page(kinds, before)
    if what == "check":
        return 0 if before == after else 1
    out.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
