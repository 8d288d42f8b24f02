# SPDX-License-Identifier: Apache-2.0
"""What tools/soak calls growth."""

import unittest

from growth import ENOUGH, Limit, judge, slope, table


class Growth(unittest.TestCase):
    def judge(self, values, limit):
        return judge("rss_kib", list(range(len(values))), values, limit)

    def test_what_stays_the_same_does_not_grow(self):
        self.assertFalse(self.judge([7] * 20, Limit("", 0)).grows)

    def test_one_descriptor_more_now_and_then_is_growth(self):
        self.assertTrue(self.judge([70 + i // 4 for i in range(20)], Limit("", 0)).grows)

    def test_caches_that_are_filled_in_the_beginning_are_not(self):
        self.assertFalse(self.judge([10, 20, 30, 40, 50] + [60] * 15, Limit("", 0)).grows)

    def test_one_outlier_is_not(self):
        self.assertFalse(self.judge([7] * 19 + [900], Limit("", 0)).grows)

    def test_memory_may_have_what_is_allowed_and_no_more(self):
        values = [1000.0 + i for i in range(20)]
        self.assertFalse(self.judge(values, Limit("KiB", 20)).grows)
        self.assertFalse(self.judge(values, Limit("KiB", 0, 0.05)).grows)
        self.assertTrue(self.judge(values, Limit("KiB", 5)).grows)

    def test_few_rounds_tell_nothing(self):
        self.assertFalse(self.judge(list(range(ENOUGH - 1)), Limit("", 0)).grows)

    def test_the_slope_is_not_moved_by_outliers(self):
        self.assertEqual(slope([0, 1, 2, 3, 4], [0, 2, 4, 600, 8]), 2)

    def test_the_table_names_what_grows(self):
        self.assertIn("GROWS", table([self.judge([1000.0 * i for i in range(20)], Limit("", 0))]))


if __name__ == "__main__":
    unittest.main()
