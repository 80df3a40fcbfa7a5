"""What tools/exercise draws, and which edit it asks for."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "exercise"))
from picture import of_curves, of_peaks, thinned
from truth import edit_of, name_of
from ways import begin_of, Curve, Outcome, Way


class Pictures(unittest.TestCase):
    def test_of_each_column_the_least_and_the_greatest_stay_in_their_order(self):
        self.assertEqual(thinned([5, 9, 1, 4, 7, 7, 2, 3], 2), [(1, 9), (2, 1), (4, 7), (6, 2)])

    def test_few_values_stay_as_they_are(self):
        self.assertEqual(thinned([3, 1, 2], 100), [(0, 3), (1, 1), (2, 2)])

    def test_names_are_escaped(self):
        curve = Curve(Way("a < b & c"), [1 << 20, 3 << 20], 1)
        texts = [text.text for text in xml.etree.ElementTree.fromstring(of_curves([curve])).iter() if text.text]
        self.assertIn("a < b & c: 3 MiB at most", texts)

    def test_an_interval_is_drawn_where_there_is_one(self):
        mib = 1 << 20
        exact = Outcome(Way("nothing"), 5 * mib, 7 * mib, (7 * mib, 7 * mib), 0, 0, 3, 0.003)
        between = Outcome(Way("all"), 4 * mib, 6 * mib, (5 * mib, 8 * mib), mib, 2, 2, 0.002)
        whiskers = [of_peaks(outcomes).count('stroke="#222"') for outcomes in ([exact, between], [between])]
        self.assertEqual(whiskers, [3, 3])


class Ways(unittest.TestCase):
    LINES = {"programs/models.py:Block.forward": [47, 49], "programs/models.py:Mix.forward": [180, 182]}

    def edit(self, checkpoint, workload="gpt", **more):
        parameters = {"checkpoint": checkpoint, "k": 2, "reentrant": False, **more}
        return edit_of({"workload": workload, "parameters": parameters, "layer_functions": self.LINES})

    def test_layers_are_named_by_their_code(self):
        code = "code=programs/models.py:47-49,code=programs/models.py:180-182"
        self.assertEqual(self.edit("seg"), f"checkpoint:{code},group=2")
        self.assertEqual(self.edit("nth", reentrant=True), f"checkpoint:{code},only=2,reentrant=true")

    def test_halves_of_layers_are_named_by_their_function(self):
        self.assertEqual(self.edit("attn"), "checkpoint:function=attn")
        self.assertEqual(self.edit("attn", workload="mixer"), "checkpoint:function=mix")

    def test_what_no_edit_does_is_not_asked(self):
        self.assertEqual((self.edit("none"), self.edit("sac")), ("", ""))

    def test_recordings_have_names_for_people(self):
        self.assertEqual((name_of("gpt.seg1"), name_of("gpt.seg2r")), ("every layer", "layers in pairs, reentrant"))

    def test_a_phase_is_that_of_the_step(self):
        phases = [{"name": "backward", "ph": kind, "ts": time} for kind, time in (("b", 2), ("e", 4), ("b", 12), ("e", 14))]
        self.assertEqual(begin_of(phases, "backward", (10, 20)), 12)


if __name__ == "__main__":
    unittest.main()
