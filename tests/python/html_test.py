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
        drawn = _html.svg(events, {"reserved": [5 if event == 50_001 else 1 for event in events]}, 5)
        self.assertIn("5 B at most", drawn)
        self.assertLess(len(drawn), 50_000)
        self.assertIn(",8.0", drawn)

    def test_each_run_of_a_replay_has_its_verdict_and_its_timeline_on_one_scale(self):
        answer = memreplay.replay(OOM, strategies=["recorded", "torch:expandable_segments=True"])
        self.assertEqual(answer.sentence_of(), "recorded: out of memory at event 373 on a device of 5226 MiB. "
                         "torch:expandable_segments=True: serves all that is recorded on a device of "
                         "5226 MiB; what the rest needs is unknown.")
        page = answer._repr_html_()
        self.assertEqual(page.count("<svg"), 2)
        self.assertEqual(page.count(">5184 MiB</text>"), 2)

    def test_settings_that_come_to_the_same_share_a_row(self):
        page = memreplay.tune(OOM, runs=200)._repr_html_()
        self.assertIn("torch:expandable_segments=True (+8 alike)", page)
        self.assertEqual(page.count("<svg"), 1)

    def test_a_sentence_stands_for_an_answer(self):
        self.assertIn("Fragmentation: the 759 MiB", repr(memreplay.explain(OOM)))
        self.assertIn("expandable_segments:True serves every recorded request", repr(memreplay.tune(OOM, runs=60)))


if __name__ == "__main__":
    unittest.main()
