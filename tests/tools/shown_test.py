"""What counts as the same output when figures of time are left aside."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from shown import matches


class Shown(unittest.TestCase):
    def test_another_figure_of_bytes_is_another_output(self):
        self.assertTrue(matches("reserved 4 MiB\n", "reserved 4 MiB\n"))
        self.assertFalse(matches("reserved 4 MiB\n", "reserved 5 MiB\n"))

    def test_a_time_may_differ(self):
        self.assertTrue(matches("done in 0.3 s\n", "done in 12 s\n"))
        self.assertTrue(matches('"replay_seconds": 0.5,\n', '"replay_seconds": 1e-05,\n'))

    def test_what_stands_under_the_heading_of_times_may_differ(self):
        shown = "strategy  OOM  ns/op\nbump        0      7\ndirect      1   58.3\n"
        self.assertTrue(matches(shown, "strategy  OOM  ns/op\nbump        0     12\ndirect      1    612\n"))
        self.assertFalse(matches(shown, "strategy  OOM  ns/op\nbump        2      7\ndirect      1   58.3\n"))

    def test_an_ellipsis_stands_for_any_lines(self):
        self.assertTrue(matches("first\n...\nlast\n", "first\na\nb\nlast\n"))
        self.assertTrue(matches("...\n", ""))
        self.assertFalse(matches("first\n...\nlast\n", "first\na\n"))

    def test_a_line_more_or_less_is_another_output(self):
        self.assertFalse(matches("one\n", "one\ntwo\n"))
        self.assertFalse(matches("one\ntwo\n", "one\n"))


if __name__ == "__main__":
    unittest.main()
