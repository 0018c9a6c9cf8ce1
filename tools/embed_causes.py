#!/usr/bin/env python3
"""Turns src/cause/*/*.cause into one C++ source: the declarations that diagnose/ infers with (docs/ranking.md)."""

import pathlib
import re
import sys

VERBS = {"exact": "kExact", "strong": "kStrong", "explains": "kExplains", "requires": "kRequires", "excludes": "kExcludes"}
CONDITION = re.compile(r"\[([^\]]*)\]")


def conditions_of(text: str, where: str) -> tuple:
    """(text without its brackets, only if, unless)."""
    found = CONDITION.search(text)
    if not found:
        return text.strip(), "", ""
    rest = (text[: found.start()] + " " + text[found.end() :]).strip()
    match = re.fullmatch(r"(?:if ((?:(?!unless)[a-z|!-]+ ?)+?) ?)?(?:unless ([a-z|! -]+))?", found.group(1).strip())
    if not match or not (match.group(1) or match.group(2)):
        sys.exit(f"{where}: '[{found.group(1)}]' must be [if SIGN ...], [unless SIGN ...] or [if ... unless ...]")
    return rest, (match.group(1) or "").strip(), (match.group(2) or "").strip()


def literal(text: str) -> str:
    return 'R"cause(' + text + ')cause"'


def read(path: pathlib.Path) -> dict:
    out = {"id": path.stem, "symptom": False, "special_of": "", "leads_to": "", "settled_by": "", "clauses": [], "fixes": [], "asks": []}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path}:{number}"
        verb, _, rest = line.partition(" ")
        rest = rest.strip()
        if not line or line.startswith("#"):
            continue
        if verb == "symptom":
            out["symptom"] = True
        elif verb in ("leads-to", "settled-by", "special-of"):
            out[verb.replace("-", "_")] = rest
        elif verb in VERBS:
            sign, only_if, unless = conditions_of(rest, where)
            if not re.fullmatch(r"!?[a-z-]+(?:\|[a-z-]+)*", sign):
                sys.exit(f"{where}: '{sign}' is not one sign, or several with | between them")
            out["clauses"].append((VERBS[verb], sign, only_if, unless))
        elif verb in ("fix", "asks"):
            text, only_if, unless = conditions_of(rest, where)
            kind, _, after = text.partition(": ") if verb == "asks" else ("", "", text)
            out["fixes" if verb == "fix" else "asks"].append((kind, after, only_if, unless))
        else:
            sys.exit(f"{where}: a line begins with {', '.join(VERBS)}, symptom, special-of, leads-to, settled-by, fix or asks")
    return out


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = ['#include "cause/declaration.h"', "", "namespace whystop {", "namespace {", ""]
    rows = []
    for index, path in enumerate(sorted(folder.glob("*/*.cause"), key=lambda path: path.stem)):
        declaration = read(path)
        names = {}
        for what, kind in (("clauses", "Clause"), ("fixes", "TextClause"), ("asks", "TextClause")):
            names[what] = f"k{what.capitalize()}{index}" if declaration[what] else "{}"
            if not declaration[what]:
                continue
            lines.append(f"constexpr {kind} {names[what]}[] = {{")
            for first, *rest in declaration[what]:
                head = f"Clause::Verb::{first}" if kind == "Clause" else literal(first)
                lines.append(f"    {{{head}, {', '.join(map(literal, rest))}}},")
            lines.append("};")
        symptom = "true" if declaration["symptom"] else "false"
        rows.append(f'    {{"{path.stem}", {symptom}, {literal(declaration["leads_to"])}, {names["clauses"]}, {names["fixes"]}, '
                    f'{names["asks"]}, {literal(declaration["settled_by"])}, {literal(declaration["special_of"])}}},')
    lines += ["", "constexpr Declaration kDeclarations[] = {"] + rows + ["};", "", "}  // namespace", ""]
    lines += ["std::span<const Declaration> AllDeclarations() { return kDeclarations; }", "", "}  // namespace whystop", ""]
    out.write_text("\n".join(lines), encoding="utf-8")


main()
