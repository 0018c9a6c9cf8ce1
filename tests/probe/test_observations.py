"""What the probe writes is declared: src/model/observations.tsv is the one list of kinds, attributes and types."""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import make_observations  # noqa: E402

TABLE = ROOT / "src" / "model" / "observations.tsv"
KINDS = {kind.name: kind for kind in make_observations.read_table(TABLE)}


def calls():
    """(place, kind, names of attributes) of every call of observe() in the probe that names its kind."""
    for path in sorted((ROOT / "python" / "whystop_probe").rglob("*.py")):
        if path.name.endswith("_test.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "observe"
            if named and node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                yield f"{path.name}:{node.lineno}", node.args[0].value, [item.arg for item in node.keywords if item.arg]


def test_every_observation_of_the_probe_is_declared():
    undeclared = []
    for place, name, attributes in calls():
        kind = KINDS.get(name)
        undeclared += [f"{place}: {name}"] if kind is None else []
        if kind is not None and not kind.open:
            undeclared += [f"{place}: {name}.{attribute}" for attribute in attributes if attribute not in kind.attributes]
    assert not undeclared, f"add to {TABLE.name}: " + ", ".join(undeclared)


def test_the_page_is_made_from_the_table():
    page = ROOT / "docs" / "observations.md"
    text = page.read_text(encoding="utf-8")
    assert make_observations.page(list(KINDS.values()), text) == text, "run: python3 tools/make_observations.py src/model/observations.tsv docs docs/observations.md"
