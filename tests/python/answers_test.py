"""Answers of the module: the JSON of the command line, whatever the recording comes as."""
import json
import pathlib
import pickle
import tempfile
import threading
import unittest

import memreplay
from support import BATCH_2, BATCH_8, LAYERS, OOM, PROGRAM, TRACES, commanded, same_apart_from_times, snapshot, without_path


class SameAsTheCommand(unittest.TestCase):
    def check(self, answer, *arguments):
        self.assertTrue(same_apart_from_times(answer.json_text, commanded(*arguments, "--json")), arguments)

    def test_info(self):
        self.check(memreplay.info(OOM), "info", OOM)

    def test_replay(self):
        self.check(memreplay.replay(OOM, strategies=["torch:expandable_segments=True", "bfc"]),
                   "replay", OOM, "-s", "torch:expandable_segments=True", "-s", "bfc")

    def test_compare(self):
        self.check(memreplay.compare(OOM, capacity="24GiB"), "compare", OOM, "--capacity", "24GiB")

    def test_explain(self):
        self.check(memreplay.explain(LAYERS, at="peak", by="function", tree=True, top=3),
                   "explain", LAYERS, "--at", "peak", "--by", "function", "--tree", "--top", "3")

    def test_tune(self):
        self.check(memreplay.tune(OOM, runs=60, threads=1, forbid=["max_split_size_mb", "garbage_collection_threshold"]),
                   "tune", OOM, "--runs", "60", "--threads", "1", "--forbid", "max_split_size_mb",
                   "--forbid", "garbage_collection_threshold")

    def test_fit(self):
        answer = memreplay.fit(OOM, strategies="recorded", capacity=1 << 30)
        self.check(answer, "fit", OOM, "-s", "recorded", "--capacity", 1 << 30)
        self.assertEqual(answer.exit_code, 1)

    def test_suggest(self):
        answer = memreplay.suggest(LAYERS, budget="300MiB")
        self.check(answer, "suggest", LAYERS, "--budget", "300MiB")

    def test_edit(self):
        self.check(memreplay.replay(LAYERS, edit="scale:size>=1MiB,factor=0.5"),
                   "replay", LAYERS, "--edit", "scale:size>=1MiB,factor=0.5")

    def test_vary(self):
        recordings = {2: BATCH_2, 8: BATCH_8.read_bytes()}
        at = ["--vary", f"batch=2:{BATCH_2}", "--vary", f"batch=8:{BATCH_8}", "--at", "batch=16"]
        for ask in memreplay.replay, memreplay.compare:
            answer = ask(vary={"batch": {2: BATCH_2, 8: BATCH_8}}, at={"batch": 16}, strategies=["torch", "bfc"])
            self.check(answer, ask.__name__, *at, "-s", "torch", "-s", "bfc")
        self.check(memreplay.replay(vary=at[1:4:2], at="batch=16"), "replay", *at)
        in_memory = memreplay.replay(vary={"batch": recordings}, at={"batch": 16})
        self.assertEqual(in_memory.runs[0].peak_reserved_bytes, answer.runs[0].peak_reserved_bytes)

    def test_find(self):
        answer = memreplay.fit(vary={"batch": {2: BATCH_2, 8: BATCH_8}}, find="batch", capacity="256MiB")
        self.check(answer, "fit", "--vary", f"batch=2:{BATCH_2}", "--vary", f"batch=8:{BATCH_8}", "--find", "batch",
                   "--capacity", "256MiB")
        self.assertEqual(answer.runs[0].largest_value, 128)

    def test_vary_that_is_no_trace_for_each_value(self):
        with self.assertRaisesRegex(TypeError, "takes vary="):
            memreplay.replay(vary={"batch": BATCH_2}, at={"batch": 16})
        with self.assertRaises(memreplay.UsageError):
            memreplay.replay(OOM, vary={"batch": {2: BATCH_2, 8: BATCH_8}}, at={"batch": 16})
        with self.assertRaises(memreplay.InputError) as raised:
            memreplay.replay(vary={"batch": {2: BATCH_2, 8: b"no recording"}}, at={"batch": 16})
        self.assertEqual(raised.exception.path, "<bytes>")

    def test_stress(self):
        answer = memreplay.stress(LAYERS, orders=50, step=60, strategies=["torch"], with_=[LAYERS])
        self.check(answer, "stress", LAYERS, "--orders", "50", "--step", "60", "-s", "torch", "--with", LAYERS)

    def test_diff(self):
        other = TRACES / "torch/layers_5.pickle"
        self.check(memreplay.diff(LAYERS, other), "diff", LAYERS, other)

    def test_check(self):
        other, baseline = TRACES / "torch/layers_5.pickle", TRACES / "layers.json"
        answer = memreplay.check(other, baseline=baseline)
        self.check(answer, "check", other, "--baseline", baseline)
        self.assertEqual((answer.exit_code, answer.passed), (1, False))

    def test_verify(self):
        self.check(memreplay.verify(OOM), "verify", OOM)

    def test_lint(self):
        conf = "expandable_segments:True,max_split_size_mb:128"
        self.check(memreplay.lint(conf), "lint", conf)

    def test_several_recordings(self):
        self.check(memreplay.replay(OOM, LAYERS, strategies="torch"), "replay", OOM, LAYERS, "-s", "torch")

    def test_the_page(self):
        page = memreplay.report(OOM)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "page.html"
            commanded("report", OOM, "-o", file)
            self.assertEqual(page.html, file.read_text())
            self.assertEqual(memreplay.report(OOM, output=file).html, page.html)

    def test_ranks(self):
        other = TRACES / "torch/layers_5.pickle"
        self.check(memreplay.ranks(LAYERS, other, strategies=["recorded", "bfc"], capacity="24GiB", jobs=1),
                   "ranks", LAYERS, other, "-s", "recorded", "-s", "bfc", "--capacity", "24GiB", "--jobs", 1)

    def test_texts(self):
        answer = memreplay.explain(OOM)
        self.assertTrue(answer.text().startswith("Fragmentation: the 759 MiB request would have fitted"))
        self.assertIn("| ", memreplay.compare(OOM, strategies=["torch"]).markdown())
        self.assertIn("warning", memreplay.lint("expandable_segments:True,max_split_size_mb:128").text())


class Ranks(unittest.TestCase):
    RANKS = LAYERS, TRACES / "torch/layers_5.pickle", OOM

    def parts(self):
        return [memreplay.ranks(*self.RANKS, shard=f"{i}/3") for i in (3, 1, 2)]

    def test_merged_shards_are_the_whole_as_answers_bytes_or_files(self):
        whole, parts = memreplay.ranks(*self.RANKS), self.parts()
        self.assertEqual(memreplay.ranks(*parts, merge=True).json_text, whole.json_text)
        self.assertEqual(memreplay.ranks(*(part.json_text.encode() for part in parts), merge=True).json_text, whole.json_text)
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / str(i) for i in range(3)]
            for file, part in zip(files, parts):
                file.write_text(part.json_text)
            self.assertEqual(memreplay.ranks(*files, merge=True).json_text, whole.json_text)

    def test_some_shards_merged_are_a_part(self):
        first, *others = self.parts()
        some = memreplay.ranks(*others, merge=True)
        self.assertEqual(memreplay.ranks(some, first, merge=True).json_text, memreplay.ranks(*self.RANKS).json_text)
        with self.assertRaisesRegex(KeyError, "a shard has no tables"):
            some.table("curves")

    def test_bytes_that_are_no_part_are_refused(self):
        with self.assertRaisesRegex(memreplay.InputError, "<parts>.*ranks --shard"):
            memreplay.ranks(b"op,id,size", merge=True)

    def test_the_tables_are_those_of_a_rank(self):
        ranks = memreplay.ranks(*self.RANKS)
        self.assertEqual(ranks.table()["path"], [str(path) for path in reversed(self.RANKS)])
        self.assertEqual(ranks.table("curves", run=2).to_dict(), memreplay.replay(LAYERS).table("curves").to_dict())

    def test_snapshots_in_memory_are_ranks_too(self):
        in_memory = memreplay.ranks(*map(snapshot, self.RANKS))
        self.assertEqual(in_memory.worst.peak_reserved_bytes, memreplay.ranks(*self.RANKS).worst.peak_reserved_bytes)
        self.assertEqual([len(one.ranks) for one in in_memory.classes], [1, 1, 1])


class FromMemory(unittest.TestCase):
    def check(self, ask):
        from_file = without_path(ask(OOM).json())
        for trace in (snapshot(), OOM.read_bytes()):
            self.assertEqual(without_path(ask(trace).json()), from_file)

    def test_explain_of_a_snapshot_is_that_of_its_file(self):
        self.check(memreplay.explain)

    def test_info_of_a_snapshot_is_that_of_its_file(self):
        self.check(memreplay.info)

    def test_verify_of_a_snapshot_is_that_of_its_file(self):
        self.check(memreplay.verify)

    def test_tune_and_replay_take_snapshots(self):
        self.assertEqual(memreplay.tune(snapshot()).best.setting, "expandable_segments:True")
        self.assertEqual(memreplay.replay(snapshot()).runs[0].ooms, 1)

    def test_two_snapshots_have_names_of_their_own(self):
        answer = memreplay.diff(snapshot(LAYERS), snapshot(TRACES / "torch/layers_5.pickle"))
        self.assertIn("<snapshot 2>", answer.json_text)

    def test_a_table_of_a_snapshot_needs_no_file(self):
        self.assertEqual(memreplay.explain(snapshot()).table("curves").to_dict(), memreplay.replay(OOM).table("curves").to_dict())


class Errors(unittest.TestCase):
    def test_a_file_that_is_no_recording_is_named(self):
        with self.assertRaises(memreplay.InputError) as caught:
            memreplay.explain(__file__)
        self.assertEqual(caught.exception.path, __file__)
        self.assertIn("has no known format", caught.exception.message)
        self.assertIsInstance(caught.exception, memreplay.Error)

    def test_the_place_in_a_file_is_said(self):
        with self.assertRaises(memreplay.InputError) as caught:
            memreplay.replay(b"op,id,size\na,0,ten\n", strategies="torch")
        self.assertEqual((caught.exception.path, caught.exception.place[:1]), ("<bytes>", "2"))

    def test_a_snapshot_that_is_none_is_refused(self):
        with self.assertRaises(memreplay.InputError) as caught:
            memreplay.explain({"segments": 3})
        self.assertEqual(caught.exception.path, "<snapshot>")

    def test_a_strategy_that_does_not_exist_is_wrong_usage(self):
        with self.assertRaisesRegex(memreplay.UsageError, "did you mean 'torch'"):
            memreplay.replay(OOM, strategies="torhc")

    def test_an_unknown_keyword_names_the_nearest(self):
        with self.assertRaisesRegex(TypeError, r"explain\(\) got an unexpected keyword argument 'capacty'; did you mean 'capacity'\?"):
            memreplay.explain(OOM, capacty="24GiB")
        with self.assertRaisesRegex(TypeError, "'json'"):
            memreplay.explain(OOM, json=True)

    def test_what_is_no_trace_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "not int"):
            memreplay.explain(7)

    def test_nothing_is_asked_of(self):
        with self.assertRaisesRegex(memreplay.UsageError, "which recording"):
            memreplay.explain()


class Answers(unittest.TestCase):
    def test_keys_are_items_and_attributes(self):
        answer = memreplay.replay(OOM)
        self.assertEqual(answer["runs"][0]["ooms"], answer.runs[0].ooms)
        self.assertIn("trace", dict(answer))
        self.assertIs(type(answer.json()["runs"][0]), dict)
        with self.assertRaisesRegex(AttributeError, "has no 'verdict'"):
            answer.verdict

    def test_an_answer_travels_to_another_process(self):
        for answer in memreplay.explain(OOM), memreplay.tune(OOM, runs=60), memreplay.lint("expandable_segments:True"):
            other = pickle.loads(pickle.dumps(answer))
            self.assertEqual((other.json_text, other.text(), other.markdown(), other.exit_code, other.notes),
                             (answer.json_text, answer.text(), answer.markdown(), answer.exit_code, answer.notes))
            self.assertEqual(other.table().to_dict(), answer.table().to_dict())

    def test_notes_come_with_the_answer_whichever_thread_read_the_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{name}.csv" for name in "ab"]
            for path in paths:
                pathlib.Path(path).write_text("op,id,size,colour\na,1,100,red\n")
            for question in memreplay.verify, memreplay.info, memreplay.ranks:
                notes = [note.partition(":")[0] for note in question(*paths).notes]
                self.assertEqual([note for note in notes if note.endswith(".csv")], paths, question)  # verify adds why not

    def test_other_threads_go_on(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(memreplay.tune(OOM, runs=60).best.setting)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, ["expandable_segments:True"] * 4)

    def test_threads_may_write_files_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            threads = [threading.Thread(target=memreplay.convert, args=(OOM, f"{folder}/{i}.mrt")) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len({file.read_bytes() for file in pathlib.Path(folder).iterdir()}), 1)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 8)

    def test_converted_and_generated_files_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            made, copy = f"{folder}/made.mrt", f"{folder}/made.csv"
            memreplay.generate("random", made, events=2000, live=50, seed=3)
            memreplay.convert(made, copy)
            self.assertEqual(memreplay.info(copy).trace.events, memreplay.info(made).trace.events)

    def test_the_version_is_that_of_the_program(self):
        self.assertEqual(commanded("--version"), f"memreplay {memreplay.__version__}\n")


if __name__ == "__main__":
    unittest.main()
