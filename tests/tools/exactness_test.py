"""What tools/exactness concludes from the truth beside a recording."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "exactness"))
from page import tables_in, with_tables
from pairs import Comparison, causes
from program import release_of, settings_of, table
from real_requests import fnv1a


def causes_of(recorded, own, because="", own_different=()):
    return list(causes({"memory_stats": recorded}, Comparison(own, "", list(own_different), True),
                       Comparison({}, because, ["segment.all.peak"], True)))


class Causes(unittest.TestCase):
    def test_a_recording_that_shows_all_that_was_counted_explains_nothing(self):
        self.assertEqual(causes_of({"num_sync_all_streams": 3}, {"num_sync_all_streams": 3}), [])

    def test_more_synchronisations_than_a_recording_shows_are_calls_of_empty_cache(self):
        self.assertEqual(causes_of({"num_sync_all_streams": 3}, {"num_sync_all_streams": 2}),
                         ["an `empty_cache` that released nothing left no entry "
                          "(the original synchronised 3 times, its recording shows 2)"])

    def test_where_the_recording_itself_is_not_reproduced_nothing_is_explained(self):
        self.assertEqual(causes_of({"num_sync_all_streams": 3}, {"num_sync_all_streams": 2},
                                   own_different=["num_device_free"]), [])

    def test_rejected_requests_are_a_cause_unless_the_recording_shows_them(self):
        self.assertEqual(causes_of({"num_oom_rejections": 2}, {"num_oom_rejections": 0}),
                         ["requests that were rejected left no entry (2)"])
        self.assertEqual(causes_of({"num_oom_rejections": 2}, {"num_oom_rejections": 2}), [])

    def test_frees_completed_by_a_synchronisation_are_a_cause_and_other_estimates_are_not(self):
        self.assertEqual(causes_of({}, {}, "2 frees were completed by a synchronisation"),
                         ["2 frees were completed by a synchronisation"])
        self.assertEqual(causes_of({}, {}, "the recording starts with 12 blocks"), [])


class Truths(unittest.TestCase):
    def test_a_limit_set_by_a_call_becomes_part_of_the_setting(self):
        self.assertEqual(settings_of({"config": ""}), "")
        self.assertEqual(settings_of({"config": "", "memory_fraction_call": 0.5}), "per_process_memory_fraction:0.5")
        self.assertEqual(settings_of({"config": "max_split_size_mb:32", "memory_fraction_call": 0.5}),
                         "max_split_size_mb:32,per_process_memory_fraction:0.5")

    def test_a_release_is_found_in_its_name(self):
        self.assertEqual(release_of("original PyTorch 2.12.1+cu130 allocator over a stub"), "2.12.1")

    def test_a_hash_is_taken_over_eight_bytes_of_each_number(self):
        self.assertEqual(fnv1a([]), "cbf29ce484222325")
        self.assertEqual(fnv1a([0x6162636465666768]), "a588fa95f595c3d5")


class Pages(unittest.TestCase):
    def test_tables_replace_what_stood_between_their_markers(self):
        page = "a\n<!-- figures: one -->\nold\n<!-- end -->\nb\n<!-- figures: two -->\n<!-- end -->\n"
        filled = with_tables(page, {"one": ["new", "", "line"], "two": ["2"]})
        self.assertEqual(tables_in(filled), {"one": ["new", "", "line"], "two": ["2"]})
        self.assertEqual(filled.replace("new\n\nline", "old"), with_tables(page, {"one": ["old"], "two": ["2"]}))

    def test_figures_stand_to_the_right(self):
        self.assertEqual(list(table(("what", "number"), [("bytes", 1234)])),
                         ["| what | number |", "|---|---:|", "| bytes | 1,234 |"])


if __name__ == "__main__":
    unittest.main()
