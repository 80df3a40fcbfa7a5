"""What tools/truth makes of two recordings of the same program."""
import importlib.machinery
import importlib.util
import pathlib
import pickle
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOL = str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "truth" / "truth")
loader = importlib.machinery.SourceFileLoader("truth", TOOL)
truth = importlib.util.module_from_spec(importlib.util.spec_from_loader("truth", loader))
sys.modules["truth"] = truth
loader.exec_module(truth)

MIB = 2**20


def event(action, address, size):
    return {"action": action, "addr": address, "size": size, "stream": 0}


def freed(address, size):
    return [event("free_requested", address, size), event("free_completed", address, size)]


def program(base, last=4 * MIB):
    """Two blocks in one segment and one in another, which lie where `base` says."""
    return [event("segment_alloc", base, 20 * MIB), event("alloc", base, 2 * MIB), event("alloc", base + 2 * MIB, 3 * MIB),
            *freed(base, 2 * MIB), *freed(base + 2 * MIB, 3 * MIB),
            event("segment_alloc", base // 2, 20 * MIB), event("alloc", base // 2, last)]


def row(theirs, ours):
    return truth.compared(truth.Recording(theirs), truth.Recording(ours))


class Comparison(unittest.TestCase):
    def test_where_segments_lie_plays_no_part(self):
        cells, equal = row(program(1000 * MIB), program(7000 * MIB))
        self.assertEqual(cells["requests"], "5 equal")
        self.assertEqual(cells["placements"], "3 of 3")
        self.assertTrue(all(equal.values()))

    def test_the_first_request_that_differs_is_shown_and_both_peaks(self):
        cells, equal = row(program(1000 * MIB), program(1000 * MIB, last=6 * MIB))
        self.assertEqual(cells["requests"], "4 of 5, then alloc 4,194,304 / alloc 6,291,456")
        self.assertEqual(cells["peak requested MiB"], "5.0 / 6.0 (+20.00 %)")
        self.assertTrue(equal["peak reserved"])

    def test_frees_in_another_order_are_told_from_other_requests(self):
        events = program(1000 * MIB)
        cells, equal = row(events, events[:3] + events[5:7] + events[3:5] + events[7:])
        self.assertEqual(cells["requests"], "5 equal but for the order of 2 frees")
        self.assertFalse(equal["requests equal"])

    def test_an_address_that_comes_again_is_another_allocation(self):
        again = [event("alloc", 64, 8), *freed(64, 8), event("alloc", 64, 8), *freed(64, 8)]
        self.assertEqual([request[3] for request in truth.Recording(again).requests()], [None, 0, None, 1])


class Windows(unittest.TestCase):
    def test_a_history_switched_on_later_knows_what_was_there(self):
        part = truth.part(truth.Recording(program(1000 * MIB)), 2, 6)
        self.assertEqual((part.requested, part.reserved, part.segments), (2 * MIB, 20 * MIB, (1000 * MIB,)))
        self.assertEqual(part.peaks(), (5 * MIB, 20 * MIB))

    def test_a_ring_holds_the_last_entries(self):
        self.assertEqual(truth.part(truth.Recording(program(1000 * MIB)), 0, 9, holds=2).events, program(1000 * MIB)[7:])

    def test_what_a_file_lacks_follows_from_its_end(self):
        events = program(1000 * MIB)
        blocks = [{"size": 4 * MIB, "state": "active_allocated"}, {"size": 16 * MIB, "state": "inactive"}]
        segments = [{"address": 1000 * MIB, "total_size": 20 * MIB, "blocks": []},
                    {"address": 500 * MIB, "total_size": 20 * MIB, "blocks": blocks}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "late.pickle")
            path.write_bytes(pickle.dumps({"device_traces": [[], events[2:]], "segments": [{"device": 1, **s} for s in segments]}))
            late = truth.read(path)
        self.assertEqual((late.requested, late.reserved, late.segments), (2 * MIB, 20 * MIB, (1000 * MIB,)))


class Placements(unittest.TestCase):
    """Whether a solver's list places the buffers of a problem."""

    def fits(self, *offsets, buffers=((0, 4, 60), (2, 6, 40), (4, 8, 60)), capacity=100):
        from planners import fits
        with tempfile.TemporaryDirectory() as folder:
            problem, placed = pathlib.Path(folder, "problem.csv"), pathlib.Path(folder, "placed.csv")
            problem.write_text("id,lower,upper,size\n" + "".join(f"{i},{a},{b},{size}\n" for i, (a, b, size) in enumerate(((0, 4, 60), (2, 6, 40), (4, 8, 60)))))
            placed.write_text("id,lower,upper,size,offset\n" + "".join(
                f"{i},{a},{b},{size},{at}\n" for i, ((a, b, size), at) in enumerate(zip(buffers, offsets))))
            return fits(problem, placed, capacity)

    def test_buffers_that_touch_in_time_or_in_place_fit(self):
        self.assertTrue(self.fits(0, 60, 0))

    def test_those_that_overlap_or_end_beyond_the_capacity_do_not(self):
        self.assertFalse(self.fits(0, 59, 0))
        self.assertFalse(self.fits(0, 60, 41))
        self.assertFalse(self.fits(0, 60, 0, capacity=99))
        self.assertFalse(self.fits(-1, 60, 0))

    def test_a_list_of_other_buffers_or_none_places_nothing(self):
        self.assertFalse(self.fits(0, 60, 0, buffers=((0, 4, 60), (2, 6, 30), (4, 8, 60))))
        self.assertFalse(self.fits(0, 60))


if __name__ == "__main__":
    unittest.main()
