"""memreplay.dask on a cluster of processes: the answers of one machine. With `--files N` a job of so many."""
import importlib.util
import logging
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

import memreplay
from support import LAYERS, OOM, TRACES, same_apart_from_times

if not importlib.util.find_spec("distributed"):
    print("skipped: distributed is not installed")
    sys.exit(0)

import distributed  # noqa: E402
import memreplay.dask  # noqa: E402

TORCH = TRACES / "torch"
FILES = 12


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                           silence_logs=logging.CRITICAL)
        cls.addClassCleanup(cluster.close)
        cls.client = distributed.Client(cluster)
        cls.addClassCleanup(cls.client.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_job(cls.folder, FILES)

    def test_the_answer_is_that_of_one_machine(self):
        began = time.monotonic()
        spread = memreplay.dask.ranks(self.folder, self.client)
        print(f"{FILES} files: {time.monotonic() - began:.1f} s on two workers", flush=True)
        whole = memreplay.ranks(self.folder)
        self.assertEqual(spread.json_text, whole.json_text)
        self.assertEqual((spread.text(), spread.exit_code, spread.notes), (whole.text(), whole.exit_code, whole.notes))
        self.assertEqual((len(spread.ranks), len(spread.classes), spread.other_files), (FILES, 3, 1))

    def test_strategies_are_laid_side_by_side_for_every_rank(self):
        options = {"strategies": ["recorded", "torch:expandable_segments=True"], "capacity": "5226MiB"}
        spread = memreplay.dask.ranks([LAYERS, OOM], self.client, shards=5, **options)
        self.assertEqual(spread.json_text, memreplay.ranks(LAYERS, OOM, **options).json_text)
        self.assertEqual([one.ranks_out_of_memory for one in spread.strategies], [1, 0])

    def test_tune_finds_the_setting_for_one_of_each_class(self):
        paths = [self.folder / f"oom_rank{rank}.pickle" for rank in range(6)]
        tuned = memreplay.dask.tune(paths, self.client, runs=60)
        one_of_each = [each.representative for each in memreplay.ranks(*paths).classes]
        self.assertEqual(len(one_of_each), 3)
        self.assertTrue(same_apart_from_times(tuned.json_text, memreplay.tune(*one_of_each, runs=60, threads=1).json_text))

    def test_what_cannot_be_read_is_named_and_the_others_go_on(self):
        broken = self.folder.parent / f"{self.folder.name}_rank99.pickle"
        self.addCleanup(broken.unlink)
        broken.write_bytes(OOM.read_bytes()[:5000])
        paths = [self.folder / "oom_rank0.pickle", broken]
        spread = memreplay.dask.ranks(paths, self.client)
        self.assertEqual((spread.exit_code, [file.rank for file in spread.unreadable]), (2, [99]))
        self.assertEqual(spread.notes, memreplay.ranks(*paths).notes)
        with self.assertRaisesRegex(memreplay.InputError, "rank99"):
            memreplay.dask.tune(paths, self.client)

    def test_a_path_that_workers_do_not_see_is_an_error(self):
        with self.assertRaisesRegex(memreplay.InputError, "nowhere_rank0.pickle: is not there on .*every worker sees"):
            memreplay.dask.ranks(["nowhere_rank0.pickle"], self.client)

    def test_options_of_the_command_that_mean_nothing_here_are_refused(self):
        with self.assertRaisesRegex(TypeError, "does without 'merge'"):
            memreplay.dask.ranks([OOM], self.client, merge=True)
        with self.assertRaisesRegex(TypeError, "did you mean 'capacity'"):
            memreplay.dask.ranks([OOM], self.client, capacty="24GiB")


def write_job(folder, files):
    """Ranks of three classes, beside them a file that is no recording."""
    kinds = [LAYERS, TORCH / "layers_5.pickle", TORCH / "fragmentation.pickle", TORCH / "garbage_collection.pickle"]
    for rank in range(files):
        shutil.copyfile(kinds[rank % len(kinds)], folder / f"oom_rank{rank}.pickle")
    (folder / "train.log").write_text("step 1\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--files"]:
        FILES = int(sys.argv[2])
        del sys.argv[1:3]
    unittest.main()
