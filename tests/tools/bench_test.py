"""What tools/bench makes of its samples, and the loads that it measures with."""
import math
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import output
from cases import Case, Figure, measured
from loads import looped, random_requests
from logs import WRITERS, pointers
from peers import Outcome, told
from processes import Failed


def figure(unit, **samples):
    return Figure("group/load", unit, samples, "")


class Figures(unittest.TestCase):
    def test_a_ratio_says_how_many_times_better_we_are(self):
        self.assertEqual(figure("M events/s", memreplay=[9, 10, 30], original=[5]).ratio("original"), 2)
        self.assertEqual(figure("s", memreplay=[10], original=[5]).ratio("original"), 0.5)

    def test_what_took_no_time_has_no_ratio(self):
        self.assertTrue(math.isnan(figure("s", memreplay=[0.0], original=[5]).ratio("original")))

    def test_programs_take_turns(self):
        turns = []
        sides = {who: lambda who=who: turns.append(who) or 1.0 for who in ("memreplay", "original")}
        measured(Case("group/load", "s", sides), rounds=2)
        self.assertEqual(turns, ["memreplay", "original"] * 2)

    def test_where_a_program_fails_nothing_is_measured_and_the_reason_said(self):
        def fail():
            raise Failed("status 2")
        self.assertIn("not measured: status 2", output.line(measured(Case("g/l", "s", {"memreplay": fail}), 1), None))

    def test_what_is_written_is_read_again_and_laid_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "old.json")
            output.write(path, output.heading(), [figure("s", memreplay=[4.0], original=[4.0])])
            then = output.read(path)["group/load"]
        line = output.line(figure("s", memreplay=[2.0], original=[4.0]), then)
        self.assertIn("original 4.00 (2.0x, then 1.0x)", line)
        self.assertIn("then 4.00 (2.00x)", line)


class Loads(unittest.TestCase):
    def check_requests(self, requests):
        live = set()
        for block, size in requests:
            self.assertEqual(block in live, size is None)
            live ^= {block}
        return live

    def test_random_requests_free_what_is_live_and_are_the_same_for_a_seed(self):
        requests = list(random_requests(5_000, 100, 9, 20, seed=3))
        self.assertLessEqual(len(self.check_requests(requests)), 100)
        self.assertEqual(requests, list(random_requests(5_000, 100, 9, 20, seed=3)))

    def test_a_looped_recording_ends_empty(self):
        requests = list(looped(ROOT / "traces/torch/layers_5.pickle", 2_000))
        self.assertGreaterEqual(len(requests), 2_000)
        self.assertEqual(self.check_requests(requests), set())


class Logs(unittest.TestCase):
    def test_a_pointer_is_given_again_only_when_it_is_free(self):
        live = set()
        for _, pointer, _, allocates in pointers(random_requests(5_000, 100, 9, 20, seed=3)):
            self.assertEqual(pointer in live, not allocates)
            live ^= {pointer}

    def test_each_is_whole_lines_the_same_for_a_seed(self):
        for name, writer in WRITERS.items():
            with self.subTest(name=name):
                once, again = ("".join(writer(random_requests(500, 20, 9, 20, seed=3))) for _ in range(2))
                self.assertEqual(once, again)
                self.assertTrue(once.endswith("\n"))
                self.assertGreaterEqual(once.count("\n"), 200)


class Peers(unittest.TestCase):
    def test_what_a_peer_prints_is_its_rate_and_what_it_came_to(self):
        text = "rep 0: 10 ops 1 s 5 ops/s  reserved peak 510.0 MiB allocated peak 2 MiB ooms 3\nmedian 2500000 ops/s\n"
        self.assertEqual(told(text), (2.5, Outcome(510.0, 3)))


if __name__ == "__main__":
    unittest.main()
