"""What record finds in a snapshot of memory that slept, without torch."""
import copy
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps/capture/python"))
import memreplay_virtual_gpu  # noqa: E402

GIB = 1 << 30
POOL = (0, 1)


def entry(action, address, size, time):
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time, "frames": []}


def segment(address, pool):
    return {"address": address, "total_size": GIB, "segment_pool_id": pool}


class Sleeps(unittest.TestCase):
    """Two segments of a pool, allocated at 10 and 20 us, and one of the program's own at 30."""

    def setUp(self):
        self.snapshot = {
            "segments": [segment(100, POOL), segment(200, POOL), segment(300, (0, 0))],
            "device_traces": [[entry("segment_alloc", 100, GIB, 10), entry("segment_alloc", 200, GIB, 20),
                               entry("segment_alloc", 300, GIB, 30)]]}

    def marked(self, *changes):
        """The markers after these changes, with their positions, and how much slept partly."""
        partly = memreplay_virtual_gpu.mark_sleeps(self.snapshot, changes)
        entries = self.snapshot["device_traces"][0]
        return [(at, e["user_metadata"], e["addr"]) for at, e in enumerate(entries) if "user_metadata" in e], partly

    def test_a_pool_sleeps_where_all_of_it_is_unmapped(self):
        changes = (9, 100, True), (19, 200, True), (25, 100, False), (26, 200, False), (40, 100, True), (41, 200, True)
        self.assertEqual(self.marked(*changes), ([(2, "sleep", 100), (4, "wake", 100)], 0))

    def test_an_allocation_in_between_parts_two_sleeps(self):
        self.snapshot["device_traces"][0].append(entry("segment_alloc", 400, GIB, 50))
        changes = (40, 100, False), (60, 200, False), (70, 100, True), (70, 200, True)
        self.assertEqual(self.marked(*changes), ([(4, "sleep", 100), (5, "wake", 100)], GIB))

    def test_a_pool_that_stays_partly_awake_is_told_and_not_marked(self):
        before = copy.deepcopy(self.snapshot)
        self.assertEqual(self.marked((40, 100, False), (50, 100, True)), ([], GIB))
        self.assertEqual(self.snapshot, before)

    def test_a_history_without_times_gets_no_markers(self):
        for each in self.snapshot["device_traces"][0]:
            del each["time_us"]
        self.assertEqual(self.marked((25, 100, False), (26, 200, False)), ([], 0))

    def test_what_is_unmapped_as_it_is_freed_did_not_sleep(self):
        entries = self.snapshot["device_traces"][0]
        entries += [entry("segment_free", 100, GIB, 40), entry("segment_free", 200, GIB, 42)]
        self.assertEqual(self.marked((39, 100, False), (41, 200, False)), ([], 0))

    def test_memory_of_expandable_segments_is_the_allocators_own(self):
        entries = self.snapshot["device_traces"][0]
        entries += [entry("segment_map", 900, GIB, 40), entry("segment_unmap", 900, GIB, 60)]
        self.assertEqual(self.marked((41, 900, True), (50, 900, False)), ([], 0))

    def test_a_marker_names_its_pool_where_entries_do(self):
        for entry_there in self.snapshot["device_traces"][0]:
            entry_there["pool_id"] = POOL
        self.marked((40, 100, False), (40, 200, False), (40, 300, False))
        self.assertEqual(self.snapshot["device_traces"][0][-1]["pool_id"], POOL)


if __name__ == "__main__":
    unittest.main()
