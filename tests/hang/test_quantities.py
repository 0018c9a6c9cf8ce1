"""What the sensors record serves somebody: a rule reads it, or it is shown."""

import re

from conftest import ROOT

NOT_RECORDED = {"kHostUptimeMs", "kProcessState", "kRecorderLatenessMs", "kRecorderRssBytes", "kRecorderDroppedBytes"}  # Numbers of earlier versions.


def names_in(*folders: str) -> set:
    files = [path for folder in folders for path in (ROOT / "src" / folder).rglob("*") if path.suffix in (".cc", ".h")]
    return {name for path in files if not path.name.endswith("_test.cc")
            for name in re.findall(r"Quantity::(k\w+)", path.read_text(encoding="utf-8"))}


def test_every_quantity_is_read_or_shown():
    known = set(re.findall(r"^  (k[A-Z]\w+) = \d+", (ROOT / "src/model/reading.h").read_text(encoding="utf-8"), re.MULTILINE))
    recorded = names_in("sense", "supervise") & known
    served = names_in("cause", "detect", "diagnose", "sign", "watch", "view", "report")
    assert len(recorded) > 60
    assert recorded & NOT_RECORDED == set()
    assert sorted(recorded - served) == []
