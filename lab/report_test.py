#!/usr/bin/env python3
"""The tables of the laboratory: exact and lenient figures by family of programs."""

import unittest

from report import Judged, tables


def judged(label: str, named: str, accepted: tuple, made_of: tuple) -> Judged:
    causes = [{"id": named, "role": "root", "fault": True, "answers": "learning", "confidence": "certain"}] if named else []
    return Judged(label, label, accepted, "learning", 141, "p", {"causes": causes}, set(), made_of)


class Families(unittest.TestCase):
    def test_exact_and_lenient_stand_side_by_side_for_each_part_of_a_program(self):
        runs = [judged("saturation", "saturation", ("saturation", "bad-init-scale"), ("classes", "mlp", "script")),
                judged("saturation", "bad-init-scale", ("saturation", "bad-init-scale"), ("classes", "cnn", "script")),
                judged("healthy", "lr-too-high", (), ("classes", "mlp", "steps"))]
        text = tables(runs)
        self.assertIn("| task: classes | 2 | 1 | 2 | 1 | 1 |", text)
        self.assertIn("| model: cnn | 1 | 0 | 1 | 0 | 0 |", text)
        self.assertIn("| style: steps | 0 | 0 | 0 | 1 | 1 |", text)

    def test_programs_that_are_not_made_of_parts_have_no_family(self):
        self.assertNotIn("family of programs", tables([judged("saturation", "saturation", ("saturation",), ())]))


if __name__ == "__main__":
    unittest.main()
