#!/usr/bin/env python3
"""Creates a detector or a cause: its folder with code, page and cases, and its row in the registry.

    tools/new_rule.py detect loss/plateau "The loss stopped improving"
    tools/new_rule.py cause disk-full "no space was left where it writes"

What exists is kept: a cause that has only its page gets code, cases and a row.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

CAUSE_CODE = '''#include "cause/weighers.h"

namespace whystop {{

/// {id}: {title}.
void Weigh{name}(const CaseFile& run, Hypothesis& out) {{
  const LogFact* line = run.FindLog("{id}", LogFact::Role::kRoot);
  if (line == nullptr) {{
    return;  // Nothing points here: not under suspicion.
  }}
  // Say what speaks for it, what speaks against it and what could not be seen.
  static_cast<void>(out);
}}

}}  // namespace whystop
'''

DETECTOR_CODE = '''#include "detect/detector.h"

namespace whystop {{
namespace {{

/// {title}.
class {name} final : public Detector {{
 public:
  void Push(const Event& event, FindingSink& out) override {{
    // A function of its input: no clock, bounded state, numbers judged against the run's own noise.
    static_cast<void>(event);
    static_cast<void>(out);
  }}
}};

}}  // namespace

std::unique_ptr<Detector> Make{name}() {{ return std::make_unique<{name}>(); }}

}}  // namespace whystop
'''

CAUSE_HEADINGS = ("What it is", "How it shows", "Look-alikes", "When it is wrong", "What to do", "References")
DETECTOR_HEADINGS = ("What it sees", "Why it stops runs", "What to do", "When it is wrong", "Options", "References")
CASES = {
    "fires_when_it_should": "# Say in one sentence what goes wrong in this run.\n",
    "quiet_on_a_healthy_run": "# Say in one sentence why this run is healthy.\n",
    "quiet_on_its_look_alike": "# Say in one sentence what looks alike here and is not.\n",
}


class Rule:
    def __init__(self, kind, rule_id, title):
        words = re.findall(r"[a-z0-9]+", rule_id)
        self.kind, self.id, self.title = kind, rule_id, title
        self.name = "".join(word.capitalize() for word in words)
        self.stem = "_".join(words)
        self.folder = rule_id if kind == "cause" else self.stem  # Its files are called like the folder.

    def files(self):
        """Path below the rule's folder -> text. Headings are left empty on purpose: tidy.py asks for them."""
        is_cause = self.kind == "cause"
        code = (CAUSE_CODE if is_cause else DETECTOR_CODE).format(id=self.id, title=self.title, name=self.name)
        headings = CAUSE_HEADINGS if is_cause else DETECTOR_HEADINGS
        page = f"# {self.id}: {self.title}\n" + "".join(f"\n## {heading}\n" for heading in headings)
        cases = {f"cases/{name}.case": text + self.case_body(name) for name, text in CASES.items()}
        return {f"{self.folder}.cc": code, f"{self.folder}.md": page, **cases}

    def case_body(self, name):
        return f"expect {self.id}\n" if name.startswith("fires") else "expect nothing-else\n"

    def declaration(self):
        if self.kind == "cause":
            return f"void Weigh{self.name}(const CaseFile& run, Hypothesis& out);"
        return f"std::unique_ptr<Detector> Make{self.name}();"

    def row(self):
        if self.kind == "cause":
            return f'    {{"{self.id}", kStop, Outcome::kUnknown, kFault, "", &Weigh{self.name}}},\n'
        return f'    {{"{self.id}", "{self.title}", &Make{self.name}}},\n'


def with_row(registry, rule):
    """The registry's text with the rule's row, in sorted order. A row without code gets its weigher."""
    if f'{{"{rule.id}"' in registry:
        return re.sub(rf'(\{{"{rule.id}".*)\bnullptr\}},', rf"\1&Weigh{rule.name}}},", registry)
    array = "kCauses" if rule.kind == "cause" else "kDetectors"
    if f"{array}[]" not in registry:
        registry = with_table(registry, array)
    start = registry.index(f"{array}[]")
    end = registry.index("\n};", start) + 1
    later = [match for match in re.finditer(r'^ *\{"([a-z0-9/-]+)"', registry[start:end], re.M) if match[1] > rule.id]
    at = start + later[0].start() if later else end
    return registry[:at] + rule.row() + registry[at:]


def with_table(registry, array):
    """Turns the getter of an empty registry into one with a table: for the first rule of its kind."""
    getter = re.search(r"^std::span<const (\w+)> All\w+\(\) \{ return \{\}; \}$", registry, re.M)
    if not getter:
        sys.exit(f"the registry has neither '{array}[]' nor an empty getter: add the row by hand")
    table = f"namespace {{\n\n// Sorted by id.\nconstexpr {getter[1]} {array}[] = {{\n}};\n\n}}  // namespace\n\n"
    return registry.replace(getter[0], table + getter[0].replace("{}", array))


def with_declaration(text, rule):
    """Inserted among its kind, sorted; the first one after the line that opens the namespace."""
    line = rule.declaration()
    declared = list(re.finditer(r"^(?:void Weigh|std::unique_ptr<Detector> Make)\w+\(.*\);$", text, re.M))
    if any(match[0] == line for match in declared):
        return text
    later = [match for match in declared if match[0] > line]
    if later:
        return text[: later[0].start()] + line + "\n" + text[later[0].start():]
    opened = re.search(r"^namespace whystop \{\n(?:\n//.*)*", text, re.M)
    at = declared[-1].end() if declared else opened.end()
    alone = not declared and opened[0].count("\n") == 1  # No list yet: leave an empty line on both sides.
    return text[:at] + "\n" + line + ("\n" if alone else "") + text[at:]


def main():
    patterns = {"cause": r"[a-z0-9]+(-[a-z0-9]+)*", "detect": r"[a-z0-9]+/[a-z0-9]+(-[a-z0-9]+)*"}
    if len(sys.argv) != 4 or sys.argv[1] not in patterns or not re.fullmatch(patterns[sys.argv[1]], sys.argv[2]):
        sys.exit(__doc__.strip() + "\n\nAn id is kebab-case and names the bad condition; a detector's is family/condition.")
    rule = Rule(*sys.argv[1:])
    for name, text in rule.files().items():
        path = ROOT / "src" / rule.kind / rule.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    registry = ROOT / "src" / rule.kind / "registry.cc"
    declarations = registry if rule.kind == "detect" else registry.parent / "weighers.h"
    registry.write_text(with_row(registry.read_text(encoding="utf-8"), rule), encoding="utf-8")
    declarations.write_text(with_declaration(declarations.read_text(encoding="utf-8"), rule), encoding="utf-8")
    print(f"row of '{rule.id}' is in {registry.relative_to(ROOT)}; tools/tidy.py says what is still to be filled in")


if __name__ == "__main__":
    main()
