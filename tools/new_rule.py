#!/usr/bin/env python3
"""Creates a detector, a sign or a cause: its files, and its row in the registry.

    tools/new_rule.py detect loss/plateau "The loss stopped improving"
    tools/new_rule.py cause disk-full "no space was left where it writes"        a cause of an end
    tools/new_rule.py learning lr-too-high "the learning rate is too high"       a cause of bad learning: a declaration, no code
    tools/new_rule.py sign loss-stuck "Has the loss stalled, or never moved?"    a question that declarations ask

What exists is kept: a cause that has only its page gets code, a test and its weigher in the row. The cases of a
detector are .case files (docs/cases.md); those of a cause are a small test beside it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

CAUSE_CODE = '''#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {{

void Weigh{name}(const CaseFile& run, Hypothesis& out) {{
  const LogFact* line = run.FindLog("{id}", LogFact::Role::kRoot);
  if (line == nullptr) {{
    return;  // Nothing points here: not under suspicion.
  }}
  out.Add(Missing("log-line", "say what speaks for it, what against it and what could not be seen"));
}}

}}  // namespace whystop
'''

CAUSE_TEST = '''#include <gtest/gtest.h>

#include "cause/weighers.h"

namespace whystop {{
namespace {{

TEST({name}, IsNotSuspectedWithoutASign) {{
  Hypothesis out;
  Weigh{name}(CaseFile{{}}, out);
  EXPECT_TRUE(out.evidence().empty());
}}

}}  // namespace
}}  // namespace whystop
'''

# Nothing is declared until somebody does: a build in between must not name the cause.
DECLARATION = """# Signs: whystop inspect --signs; what the lines mean: docs/ranking.md
# explains  loss-stuck
# requires  training-failed
# settled-by the experiment that would tell it from its rivals
"""
LEARNING_CASES = {
    "fires_when_seen": "# Say in one sentence what goes wrong in this run.\nseries loss steps=0..299 from=2.3 noise=0.02\nend exit=0\nexpect {id}\n",
    "quiet_on_a_healthy_run": "# Say in one sentence why this run is healthy.\n{series}end exit=0\nexpect no-fault\n",
    "quiet_on_its_look_alike": "# Say in one sentence what looks alike here and is not.\n{series}end exit=0\nexpect no-fault\n",
}

DETECTOR_CODE = '''#include <memory>

#include "detect/detectors.h"

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

SIGN_CODE = '''#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {{

Sign Look{name}(const Training& training) {{
  if (training.optimizer == nullptr) {{
    return NotSeenSign();  // What would tell is not on record: neither yes nor no.
  }}
  return NoSign("say what stands against it, with its figures; YesSign() says what was seen");
}}

}}  // namespace whystop
'''

CAUSE_HEADINGS = ("What it is", "How it shows", "Look-alikes", "When it is wrong", "What to do", "Thresholds", "References")
DETECTOR_HEADINGS = ("What it sees", "Why it stops runs", "What to do", "When it is wrong", "Thresholds", "References")
CASES = {
    "fires_when_it_should": "# Say in one sentence what goes wrong in this run.\n{series}expect {id}\n",
    "quiet_on_a_healthy_run": "# Say in one sentence why this run is healthy.\n{series}expect nothing\n",
    "quiet_on_its_look_alike": "# Say in one sentence what looks alike here and is not.\n{series}expect nothing\n",
}
SERIES = "series loss steps=0..999 shape=decay from=2.3 to=0.3 speed=5 noise=0.02\n"


class Rule:
    def __init__(self, kind, rule_id, title):
        words = re.findall(r"[a-z0-9]+", rule_id)
        self.kind, self.id, self.title = kind, rule_id, title
        self.name = "".join(word.capitalize() for word in words)
        self.stem = "_".join(words)
        self.folder = self.stem if kind == "detect" else rule_id
        self.layer = kind if kind in ("detect", "sign") else "cause"
        if kind == "sign":
            self.folder = "."

    def files(self):
        """Path below the rule's folder -> text. Headings are left empty on purpose: tidy.py asks for them."""
        words = {"id": self.id, "title": self.title, "name": self.name, "series": SERIES}
        if self.kind == "sign":
            return {f"{self.stem}.cc": SIGN_CODE.format(**words)}
        headings = DETECTOR_HEADINGS if self.kind == "detect" else CAUSE_HEADINGS
        page = f"# {self.id}: {self.title}\n" + "".join(f"\n## {heading}\n" for heading in headings)
        files = {f"{self.folder}.md": page}
        if self.kind == "cause":
            files[f"{self.stem}.cc"] = CAUSE_CODE.format(**words)
            files[f"{self.stem}_test.cc"] = CAUSE_TEST.format(**words)
        elif self.kind == "learning":
            files[f"{self.id}.cause"] = DECLARATION
            files.update({f"cases/{name}.case": text.format(**words) for name, text in LEARNING_CASES.items()})
        else:
            files[f"{self.stem}.cc"] = DETECTOR_CODE.format(**words)
            files.update({f"cases/{name}.case": text.format(**words) for name, text in CASES.items()})
        return files

    def declaration(self):
        if self.kind == "cause":
            return f"void Weigh{self.name}(const CaseFile& run, Hypothesis& out);"
        if self.kind == "sign":
            return f"Sign Look{self.name}(const Training& training);"
        return f"std::unique_ptr<Detector> Make{self.name}();"

    def row(self):
        if self.kind == "cause":
            return f'    {{"{self.id}", kStop, Outcome::kUnknown, kFault, "", &Weigh{self.name}}},\n'
        maker = "Look" if self.kind == "sign" else "Make"
        return f'    {{"{self.id}", "{self.title}", &{maker}{self.name}}},\n'


def with_row(registry, rule):
    """The registry's text with the rule's row, in sorted order. A row without code gets its weigher."""
    if f'{{"{rule.id}"' in registry:
        return re.sub(rf'(\{{"{rule.id}".*)\bnullptr\}},', rf"\1&Weigh{rule.name}}},", registry)
    array = {"cause": "kEnds", "sign": "kSigns", "detect": "kDetectors"}[rule.kind]
    start = registry.index(f"{array}[]")
    end = registry.index("\n};", start) + 1
    later = [match for match in re.finditer(r'^ *\{"([a-z0-9/-]+)"', registry[start:end], re.M) if match[1] > rule.id]
    at = start + later[0].start() if later else end
    return registry[:at] + rule.row() + registry[at:]


def with_declaration(header, rule):
    """The header's text with the rule's declaration in sorted order, below the comment that opens the list."""
    line = rule.declaration()
    declared = list(re.finditer(r"^(?:void Weigh|Sign Look|std::unique_ptr<Detector> Make)\w+\(.*\);$", header, re.M))
    if any(match[0] == line for match in declared):
        return header
    later = [match.start() for match in declared if match[0] > line]
    at = later[0] if later else declared[-1].end() + 1
    return header[:at] + line + "\n" + header[at:]


def main():
    patterns = {"cause": r"[a-z0-9]+(-[a-z0-9]+)*", "learning": r"[a-z0-9]+(-[a-z0-9]+)*", "sign": r"[a-z0-9]+(-[a-z0-9]+)*", "detect": r"[a-z0-9]+/[a-z0-9]+(-[a-z0-9]+)*"}
    if len(sys.argv) != 4 or sys.argv[1] not in patterns or not re.fullmatch(patterns[sys.argv[1]], sys.argv[2]):
        sys.exit(__doc__.strip() + "\n\nAn id is kebab-case and names what is bad; a detector's is family/condition.")
    rule = Rule(*sys.argv[1:])
    for name, text in rule.files().items():
        path = ROOT / "src" / rule.layer / rule.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    if rule.kind == "learning":
        print("it needs no row; tools/tidy.py says what is still to be filled in")
        return
    registry = ROOT / "src" / rule.kind / "registry.cc"
    declarations = registry.parent / {"detect": "detectors.h", "sign": "signs.h", "cause": "weighers.h"}[rule.kind]
    registry.write_text(with_row(registry.read_text(encoding="utf-8"), rule), encoding="utf-8")
    declarations.write_text(with_declaration(declarations.read_text(encoding="utf-8"), rule), encoding="utf-8")
    print(f"row of '{rule.id}' is in {registry.relative_to(ROOT)}; tools/tidy.py says what is still to be filled in")


if __name__ == "__main__":
    main()
