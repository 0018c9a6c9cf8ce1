#!/usr/bin/env python3
"""The house rules that a program can check: run by ctest as `tidy`. Each message names file, line and the way out.

A line may be excused by a comment on it: `// tidy-allow NAME: the reason`, NAME as printed in the message.
"""

import pathlib
import re
import subprocess
import sys

# Who may include whom; the same table as in CMakeLists.txt. cli may include everything.
LAYERS = {
    "base": "",
    "model": "base",
    "record": "base model",
    "wire": "base model",
    "text": "base model",
    "sense": "base model",
    "look": "base model sense",
    "client": "base wire whystop",
    "symbol": "base",
    "stream": "base model record wire text symbol",
    "import": "base model text",
    "detect": "base model",
    "sign": "base model",
    "cause": "base model sign",
    "diagnose": "base model detect sign cause",
    "try": "base model record stream cause",
    "fit": "base record sense try",
    "supervise": "base model record wire sense",
    "watch": "base model record wire look",
    "view": "base model text",
    "report": "base model view",
    "export": "base model report",
    "serve": "base",
}
LAYERS["cli"] = " ".join(LAYERS) + " whystop"

# The probe's house (docs/probe.md): what each folder of python/whystop_probe may import. Those in NEUTRAL name no framework at all.
PROBE_LAYERS = {
    "core": "",
    "loop": "core",
    "torch": "core loop trial",
    "tensorflow": "core loop",
    "keras": "core loop tensorflow trial",
    "frameworks": "core loop torch",
    "trial": "core loop torch keras",
}
NEUTRAL = ("core", "loop")
FRAMEWORK = re.compile(r"(?i)torch|tensorflow|keras|\bjax\b|lightning|accelerate|transformers")

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
CAUSE_HEADINGS = ("What it is", "How it shows", "Look-alikes", "When it is wrong", "What to do")
DETECTOR_HEADINGS = ("What it sees", "Why it stops runs", "What to do", "When it is wrong")

# name, pattern, which files (a regular expression on the path, "!" in front: all others), what to do instead.
BANS = [
    ("number-parsing", r"\b(?:sscanf|ato[ifl]+|strto[a-z]+|std::sto[a-z]+)\s*\(", "", "use ParseWhole of base/parse.h"),
    ("regex", r"\bstd::(?:regex|smatch|cmatch)\b", "", "write the parser by hand, or use RE2 inside text/"),
    ("shell", r"(?<![\w.>])(?:system|popen)\s*\(", "", "start the program itself with posix_spawn or fork and exec"),
    ("exit", r"(?<![\w.>])exit\s*\(", "!src/cli/main\\.cc", "return a Status up to main.cc (_exit in a forked child)"),
    ("printing", r"\bstd::(?:cout|cerr|clog)\b|\b(?:v?f?printf|f?puts|putchar|perror)\s*\(|\bfmt::print\b",
     r"!src/(?:cli|report)/|src/base/check\.cc|_test\.cc", "return the text; only cli/ and report/ print"),
    ("sleep", r"\b(?:u?sleep|nanosleep|sleep_for|sleep_until)\s*\(", r"_test\.cc", "wait for the event itself"),
    ("clock", r"\b(?:clock_gettime|gettimeofday)\s*\(|_clock::now\s*\(|(?<![\w.>])time\s*\(\s*(?:NULL|nullptr|0|&)",
     r"!src/base/clock\.", "take the time as a parameter, or use base/clock.h at the edge"),
    ("environment", r"\b(?:secure_)?getenv\s*\(", r"!src/(?:cli|client)/|_test\.cc", "take the setting as a parameter"),
    ("detach", r"(?:\.|->)detach\s*\(\s*\)", "", "own a std::jthread and stop it"),
    ("raw-new", r"(?<!>\()\bnew\s+[\w:]|(?<!= )(?<!operator )\bdelete\b(?:\s*\[\s*\])?\s+[\w*(]", "",
     "use values, std::make_unique or std::vector (private constructor: std::unique_ptr<T>(new T(...)))"),
]

CODE_SUFFIXES = {".cc", ".h", ".c", ".hpp", ".py"}
TEXT_SUFFIXES = CODE_SUFFIXES | {".md", ".cmake", ".proto", ".sh", ".yml", ".ts"}
# Paths of one person's machine; example logs use a neutral name such as /home/user.
MACHINE_PATH = re.compile(r"(?<![\w.$~}*)-])/(?:(?:work|root)(?![\w-])|home/(?!(?:user|me|you|NAME|USER)\b)[a-z]\w*)")
REGISTRY_HOST = re.compile(r"\b(?:registry|mirrors?|artifactory|nexus)\.[a-z0-9-]+\.[a-z]{2,}|files\.pythonhosted\.org"
                           r"|pypi\.org/simple|(?:index-url|--registry)[ =]+https?:")
# A number that decides: a named constant, or a fraction beside the code. Zero and one speak for themselves.
THRESHOLD = re.compile(r"constexpr [\w:]+ k[A-Z]\w* =[^\";{]*\d|(?<![\w.])(?!0\.0\b|1\.0\b)\d+(?:\.\d+|e-?\d+)")
NOT_CODE = re.compile(r'R"([^()\s\\]{0,16})\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
                      r"|(?<!\w)'(?:\\.|[^'\\\n])+'")


class Tidy:
    def __init__(self, root):
        self.root = root
        self.messages = []
        self.types = {}  # Name of a type -> the header that defines it.

    def say(self, path, line, text):
        self.messages.append(f"{path}:{line}: {text}")

    def files(self):
        """Tracked and not yet added files, as paths relative to the root."""
        if (self.root / ".git").exists():
            command = ["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"]
            names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
            return sorted(name for name in names if name and (self.root / name).is_file())
        found = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if not path.parts[0].startswith(("build", ".")))

    def run(self):
        for name in self.files():
            path = pathlib.PurePath(name)
            raw = (self.root / name).read_bytes()
            if b"\0" in raw:
                continue
            text = raw.decode("utf-8", "replace")
            self.check_any_text(name, text)
            if path.suffix in TEXT_SUFFIXES or path.name == "CMakeLists.txt":
                self.check_spaces(name, text, path.suffix in CODE_SUFFIXES)
            if path.suffix == ".md":
                self.check_title(name, text)
            if path.suffix in CODE_SUFFIXES and len(text.splitlines()) > FILE_LINES_MAX:
                self.say(name, FILE_LINES_MAX, f"over {FILE_LINES_MAX} lines: split it by what its parts do")
            if name.startswith("python/whystop_probe/") and path.suffix in CODE_SUFFIXES:
                self.check_probe(name, path.parts[2], text)
            if path.suffix in {".cc", ".h", ".c", ".hpp"}:
                self.check_cpp(name, text)
            if path.suffix == ".h" and name.startswith("src/"):
                self.check_type_names(name, text)
        self.check_rules("cause", CAUSE_HEADINGS)
        self.check_rules("detect", DETECTOR_HEADINGS)
        return self.messages

    def check_type_names(self, name, text):
        """Two types of one name in one namespace become one at link time, and the smaller is written past its end."""
        for match in re.finditer(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^{;]*)? \{$", text, re.M):
            line = text.count("\n", 0, match.start()) + 1
            first = self.types.setdefault(match[1], name)
            if first != name:
                self.say(name, line, f"{first} has a type '{match[1]}' too: give one of them another name")

    def check_any_text(self, name, text):
        for number, line in enumerate(text.split("\n"), 1):
            if MACHINE_PATH.search(line):
                self.say(name, number, "a path of one machine: make it relative or a parameter (example: /home/user)")
            if REGISTRY_HOST.search(line):
                self.say(name, number, "names a package registry: leave the host to the user's own configuration")

    def check_spaces(self, name, text, is_code):
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                self.say(name, number, "trailing space: remove it")
            if is_code and "\t" in line:
                self.say(name, number, "tab: indent with spaces (in a string write \\t)")

    def check_title(self, name, text):
        without_fences = re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
        titles = [n for n, line in enumerate(without_fences.split("\n"), 1) if line.startswith("# ")]
        if len(titles) != 1:
            self.say(name, (titles + [1, 1])[1], f"{len(titles)} titles: a document has one line with '# '")

    def check_cpp(self, name, text):
        lines = text.split("\n")
        code = NOT_CODE.sub(lambda m: ('""' if m[0][-1] == '"' else " ") + "\n" * m[0].count("\n"), text)
        if name.startswith(("src/", "include/")):
            self.check_includes(name, lines)
            for number, line in enumerate(code.split("\n"), 1):
                for ban, pattern, where, instead in BANS:
                    if re.search(pattern, line) and applies(where, name) and not excused(lines[number - 1], ban):
                        self.say(name, number, f"{ban} is banned here: {instead}")
        for start, length in functions(code):
            if length > FUNCTION_LINES_MAX:
                self.say(name, start, f"function of {length} lines (at most {FUNCTION_LINES_MAX}): name its parts")

    def check_includes(self, name, lines):
        parts = name.split("/")
        layer = parts[1] if parts[0] == "src" else "include"
        allowed = set(LAYERS.get(layer, "").split()) | {layer}
        for number, line in enumerate(lines, 1):
            match = re.match(r'\s*#\s*include\s+["<](\w+)/', line)
            if match and match[1] in {*LAYERS, "whystop"} and match[1] not in allowed and layer != "include":
                may = ", ".join(sorted(allowed - {layer})) or "none of ours"
                self.say(name, number, f"{layer}/ may not include {match[1]}/ (only {may}): move it, or pass a value")
            elif match and layer == "include" and match[1] != "whystop" and match[1] in LAYERS:
                self.say(name, number, "a public header may not include src/: declare what it needs in include/whystop")

    def check_probe(self, name, layer, text):
        allowed = set(PROBE_LAYERS.get(layer, " ".join(PROBE_LAYERS)).split()) | {layer}
        for number, line in enumerate(text.split("\n"), 1):
            match = re.match(r"\s*(?:from|import) whystop_probe\.(\w+)", line)
            if match and match[1] in PROBE_LAYERS and match[1] not in allowed:
                may = ", ".join(sorted(allowed - {layer})) or "none other"
                self.say(name, number, f"{layer}/ may not import {match[1]}/ (only {may}): pass a value, or a listener")
            named = FRAMEWORK.search(line) if layer in NEUTRAL else None
            if named:
                self.say(name, number, f"{layer}/ names a framework ('{named[0]}'): let it register what it knows (core/kinds.py)")

    def check_rules(self, layer, headings):
        """Each rule has a folder with its page and a row in the registry; rows are sorted and name the code."""
        registry = f"src/{layer}/registry.cc"
        if not (self.root / registry).exists():
            return
        table = (self.root / registry).read_text()
        rows = {}  # folder -> whether the row names code
        matches = list(re.finditer(r'^ *\{+(?:\.id = )?"([a-z0-9/-]+)"((?:[^"]|"[^"]*")*?)\},$', table, re.M))
        declared = sorted((self.root / "src" / layer).glob("*/*.cause"))  # They need no row.
        for path in declared:
            if not re.search(r"^(exact|strong|explains) ", path.read_text(encoding="utf-8"), re.M):
                self.say(path.relative_to(self.root), 1, "declares no sign that the cause is known by: fill it in")
        known = {match[1] for match in matches} | {path.stem for path in declared}
        rows.update({path.stem: False for path in declared})
        for before, match in zip([None] + matches, matches):
            line = table.count("\n", 0, match.start()) + 1
            if before and before[1] >= match[1]:
                self.say(registry, line, f"'{match[1]}' stands after '{before[1]}': keep rows sorted by id, each once")
            folder = match[1] if layer == "cause" else re.sub(r"[/-]", "_", match[1])
            rows[folder] = "nullptr" not in match[2]
            for word in " ".join(re.findall(r'"([^"]*)"', match[2])).split() if layer == "cause" else ():
                if word not in known:
                    self.say(registry, line, f"'{match[1]}' leads to '{word}', which is no cause: correct the id")
            if not (self.root / "src" / layer / folder).is_dir():
                self.say(registry, line, f"'{match[1]}' has no folder src/{layer}/{folder}: add it with its page")
        for path in sorted((self.root / "src" / layer).iterdir()):
            if path.is_dir():
                self.check_rule_folder(f"src/{layer}/{path.name}", rows.get(path.name), registry, headings)
                if layer == "cause":
                    self.check_cause_page(f"src/cause/{path.name}/{path.name}.md", rows)

    def check_rule_folder(self, place, row_names_code, registry, headings):
        path = self.root / place
        page = path / f"{path.name}.md"
        if page.exists():
            self.check_headings(f"{place}/{page.name}", page.read_text(encoding="utf-8"), headings)
        else:
            self.say(f"{place}/{page.name}", 1, "no such page: write it (tools/new_rule.py shows the headings)")
        code = [file.read_text(encoding="utf-8") for file in path.glob("*.cc") if not file.name.endswith("_test.cc")]
        has_code = len(code) > 0
        if page.exists() and THRESHOLD.search(NOT_CODE.sub('""', "\n".join(code))):
            self.check_headings(f"{place}/{page.name}", page.read_text(encoding="utf-8"), ("Thresholds",))
        if row_names_code is None:
            self.say(registry, 1, f"no row for {place}: add it (tools/new_rule.py does)")
        elif has_code and not row_names_code:
            self.say(registry, 1, f"{place} has code that its row does not name: put it in place of nullptr")
        elif row_names_code and not has_code:
            self.say(registry, 1, f"the row of {place} names code that is not in that folder: put it there")
        cases = [file.name.split("_")[0] for file in path.glob("cases/*.case")]
        if cases and (cases.count("fires") < 1 or cases.count("quiet") < 2):
            self.say(f"{place}/cases", 1, "needs at least one fires_*.case and two quiet_*.case")

    def check_cause_page(self, name, causes):
        text = (self.root / name).read_text(encoding="utf-8") if (self.root / name).exists() else ""
        if text and not re.search(r"^## What to do\n1\. ", text, re.M):
            self.say(name, 1, "'## What to do' must be a numbered list: its items are the fixes in the verdict")
        look_alikes = re.search(r"^## Look-alikes\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        for word in re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", look_alikes[1]) if look_alikes else ():
            if word not in causes:
                self.say(name, 1, f"look-alike '{word}' is no cause: correct the id")

    def check_headings(self, name, text, headings):
        for heading in headings:
            section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
            if not section or not section[1].strip():
                self.say(name, 1, f"the section '## {heading}' is missing or empty: fill it in or say why it is so")


def applies(where, name):
    if where.startswith("!"):
        return not re.search(where[1:], name)
    return not where or bool(re.search(where, name))


def excused(line, ban):
    return re.search(rf"//.*\btidy-allow {ban}: \S", line) is not None


def functions(code):
    """(first line, number of lines) of each outermost function body. Follows braces; a rough but honest measure."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", lambda m: "\n" * m[0].count("\n"), code, flags=re.M)
    found, depth, head_at, body_at = [], 0, 0, None
    scopes = []  # True: a scope whose members are looked at (namespace, class); else some other block.
    for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:", code):
        at, token = match.start(), match[0]
        if token == "{":
            head = code[head_at:at].strip()
            is_scope = re.search(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()=]*$", head) is not None
            if body_at is None and all(scopes) and not is_scope and "(" in head and not re.search(r"=\s*$", head):
                body_at, depth = at - len(code[head_at:at].lstrip()), len(scopes)
            scopes.append(is_scope)
        elif token == "}" and scopes:
            scopes.pop()
            if body_at is not None and len(scopes) == depth:
                found.append((code.count("\n", 0, body_at) + 1, code.count("\n", body_at, at) + 1))
                body_at = None
        if body_at is None:
            head_at = match.end()
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    messages = Tidy(root).run()
    print("\n".join(messages + [f"tidy: {len(messages)} found"]))
    sys.exit(1 if messages else 0)


if __name__ == "__main__":
    main()
