"""Tests of the table of living objects.

Run with any Python from 3.9 on: PYTHONPATH=build/python python -m unittest whystop_probe.core.weak_test
"""

import threading
import unittest
import weakref

from whystop_probe.core.weak import WeakTable


class Owner:
    __hash__ = None  # As of objects that compare by value.


class WeakTableTest(unittest.TestCase):
    def test_values_go_with_their_owners(self):
        table, first, second = WeakTable(), Owner(), Owner()
        table[first] = 1
        table.add(second)
        self.assertEqual((table[first], table.get(second), len(table)), (1, True, 2))
        del first
        self.assertEqual((len(table), list(table)), (1, [second]))
        self.assertEqual((table.pop(second), table.pop(second, "none"), len(table)), (True, "none", 0))

    def test_another_owner_at_the_same_place_has_no_value(self):
        table, seen = WeakTable(), set()
        for turn in range(200):  # Freed memory is given out again.
            owner = Owner()
            seen.add(id(owner))
            self.assertNotIn(owner, table)
            self.assertIsNone(table.get(owner))
            with self.assertRaises(KeyError):
                table[owner]
            table[owner] = turn
            self.assertEqual(table[owner], turn)
            del owner
        self.assertLess(len(seen), 200)
        self.assertEqual(len(table), 0)

    def test_no_python_runs_where_an_owner_dies(self):
        table, owner = WeakTable(), Owner()
        table[owner] = 1
        (reference,) = weakref.getweakrefs(owner)
        self.assertFalse(hasattr(reference.__callback__, "__code__"))

    def test_threads_may_sweep_together(self):
        table, faults = WeakTable(), []

        def churn():
            try:
                for _ in range(3000):
                    table[Owner()] = 1
                    len(table)
            except Exception as fault:
                faults.append(fault)

        threads = [threading.Thread(target=churn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((faults, len(table)), ([], 0))


if __name__ == "__main__":
    unittest.main()
