#!/usr/bin/env python3
"""Gathers the C++ sources of a target into batches, each compiled as one file: most of the time of a file goes
into headers and templates that its neighbours need too.

Sources meet in a batch only if nothing that one of them keeps to itself (names of its unnamed namespace, `using`) occurs in
the other, so that a batch means what its files mean alone; no file needs to know of it. One that defines macros stays alone.

Usage: make_batches.py INCLUDE_FOLDER OUT_PREFIX BATCHES SOURCE...
Writes OUT_PREFIX0.cc and so on, unchanged ones not at all. With 0 for BATCHES it writes none, and prints how many it takes.
"""

import pathlib
import re
import sys

LINES_MAX = 1600  # Of a batch: larger ones make a change of one file expensive, and keep the second core waiting.

NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | (?:u8|[uUL])?R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*' """, re.S | re.X)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.M | re.S)
MACRO = re.compile(r"^[ \t]*#\s*(?:define|undef|pragma)\b", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\d[\w.']*|\S")
WORD = re.compile(r"[A-Za-z_]\w*")
TYPE_WORDS = {"struct", "class", "enum", "union"}
KEYWORDS = set("""alignas auto bool char class const constexpr constinit const_cast decltype double else enum explicit extern
    false final float for friend if inline int long mutable namespace noexcept nullptr operator override requires return short
    signed sizeof static static_assert struct switch template this true typedef typename union unsigned using void volatile while
    std""".split())


def without_noise(text: str) -> str:
    """The text without comments and literals; includes and macros go by their own ways."""
    return DIRECTIVE.sub("", NOISE.sub(lambda found: " " if found.group().startswith("/") else '""', text))


def is_word(token: str) -> bool:
    return bool(WORD.fullmatch(token)) and token not in KEYWORDS


def used_names(tokens: list) -> set:
    """Every name that is looked up in the surroundings: not a member's, not one that says whose it is."""
    return {name for before, name in zip([""] + tokens, tokens) if is_word(name) and before not in (".", "->", "::")}


def private_names(tokens: list) -> set:
    """The names that the file declares for itself. Some that it only uses are among them: that costs a batch at most."""
    names = set()
    scopes = []  # For each open brace or parenthesis: a "named" or "unnamed" namespace, the "values" of an enum, or "inner".
    inner = 0  # How many of these are not namespaces.
    since = 0  # Where the declaration began that we are in.
    for at, token in enumerate(tokens):
        if inner == 0:
            head = tokens[since:at]
            of_type = not TYPE_WORDS.isdisjoint(head)
            own = "unnamed" in scopes or "static" in head or "using" in head
            if own and head and is_word(head[-1]) and token in ("(", "=", "[", ";", "{"):
                shared = head[0] == "namespace" or (head[0] == "using" and token == ";") or (of_type and token == "{")
                names.update([] if shared else head[-1:])  # Short names of others' things and base classes are everybody's.
            if own and head and head[-1] in TYPE_WORDS and is_word(token):
                names.add(token)
        elif scopes[-1] == "values" and own and is_word(token):
            names.add(token)
        if token == "{" and inner == 0 and "namespace" in head:
            scopes.append("unnamed" if head[-1] == "namespace" else "named")
            since = at + 1
        elif token in "{(":
            plain_enum = inner == 0 and token == "{" and "enum" in head and not {"class", "struct"} & set(head)
            scopes.append("values" if plain_enum else "inner")
            inner += 1
        elif token in "})" and scopes:
            inner -= scopes.pop() in ("values", "inner")
        if inner == 0 and token in (";", "}"):
            since = at + 1
    return names


class Source:
    def __init__(self, path: pathlib.Path, include: pathlib.Path, headers: dict):
        text = path.read_text(encoding="utf-8")
        tokens = TOKEN.findall(without_noise(text))
        self.name = path.relative_to(include).as_posix()
        self.lines = text.count("\n")
        self.alone = bool(MACRO.search(NOISE.sub("", text)))
        self.private = private_names(tokens)
        self.used = used_names(tokens).union(*(names_of_header(include / name, include, headers) for name in INCLUDE.findall(text)))

    def suits(self, other: "Source") -> bool:
        alone = self.alone or other.alone
        return not alone and self.private.isdisjoint(other.used) and other.private.isdisjoint(self.used)


def names_of_header(path: pathlib.Path, include: pathlib.Path, known: dict) -> set:
    """The names used in one of our headers and in those that it includes."""
    if path not in known:
        known[path] = set()  # Also where it is missing: made by a tool, or of somebody else.
        if path.exists():
            text = path.read_text(encoding="utf-8")
            inner = [names_of_header(include / name, include, known) for name in INCLUDE.findall(text)]
            known[path] = used_names(TOKEN.findall(without_noise(text))).union(*inner)
    return known[path]


def gather(sources: list) -> list:
    """Each source goes into the first batch that it suits, so that a change of one moves few others."""
    batches = []
    for source in sources:
        for batch in batches:
            if sum(other.lines for other in batch) + source.lines <= LINES_MAX and all(map(source.suits, batch)):
                batch.append(source)
                break
        else:
            batches.append([source])
    return batches


def main() -> None:
    include, prefix, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    headers = {}
    batches = gather([Source(pathlib.Path(name), include, headers) for name in sorted(sys.argv[4:])])
    if count == 0:
        print(len(batches))
        return
    if len(batches) > count:
        sys.exit(f"{prefix}: {len(batches)} batches are needed now, and {count} are planned: run cmake again")
    batches += [[] for _ in range(count - len(batches))]
    for index, batch in enumerate(batches):
        out = pathlib.Path(f"{prefix}{index}.cc")
        text = "".join(f'#include "{source.name}"\n' for source in batch)
        if not out.exists() or out.read_text(encoding="utf-8") != text:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
