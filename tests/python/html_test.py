"""Answers in a notebook: verdict, table and timeline, without a script."""
import unittest
import xml.etree.ElementTree as ElementTree

import memreplay
from memreplay import _html
from support import LAYERS, OOM, TRACES


class Html(unittest.TestCase):
    def test_verdict_table_and_timeline(self):
        page = memreplay.explain(LAYERS)._repr_html_()
        for part in ("<b>", "<table>", "model.py:10 __init__", "<svg"):
            self.assertIn(part, page)
        self.assertNotIn("<script", page)
        ElementTree.fromstring(page)

    def test_every_answer_is_well_formed(self):
        for answer in (memreplay.replay(OOM, strategies=["torch", "bfc"]), memreplay.tune(OOM, runs=60), memreplay.info(OOM),
                       memreplay.replay(OOM, LAYERS), memreplay.diff(LAYERS, TRACES / "torch/layers_5.pickle"),
                       memreplay.lint("max_split_size_mb:1")):
            ElementTree.fromstring(answer._repr_html_())

    def test_the_highest_of_a_column_is_drawn(self):
        events = list(range(100_000))
        drawn = _html.svg(events, {"reserved": [5 if event == 50_001 else 1 for event in events]})
        self.assertIn("5 B at most", drawn)
        self.assertLess(len(drawn), 50_000)
        self.assertIn(",8.0", drawn)

    def test_a_sentence_stands_for_an_answer(self):
        self.assertIn("Fragmentation: the 760 MiB", repr(memreplay.explain(OOM)))
        self.assertIn("expandable_segments:True serves every request", repr(memreplay.tune(OOM, runs=60)))


if __name__ == "__main__":
    unittest.main()
