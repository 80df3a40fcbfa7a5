"""Tables of the answers, as other libraries take them."""
import csv
import io
import unittest

import arrow_reader
import memreplay
from support import BATCH_2, BATCH_8, LAYERS, OOM, commanded


def imported(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def rows_of_command(*arguments):
    return list(csv.DictReader(io.StringIO(commanded(*arguments))))


class Tables(unittest.TestCase):
    def setUp(self):
        self.answer = memreplay.replay(OOM, strategies=["recorded", "torch:expandable_segments=True"])

    def test_the_answers_own_table_is_that_of_csv(self):
        rows = rows_of_command("replay", OOM, "-s", "recorded", "-s", "torch:expandable_segments=True", "--csv")
        columns, formats = arrow_reader.read(self.answer)
        self.assertEqual(columns["strategy"], [row["strategy"] for row in rows])
        self.assertEqual(columns["peak_reserved_bytes"], [int(row["peak_reserved_bytes"]) for row in rows])
        self.assertEqual(columns["peak_reserved_low_bytes"], [None, None])
        self.assertEqual((formats["strategy"], formats["ooms"], formats["modelled_device_seconds"]), ("U", "l", "g"))

    def test_a_predicted_program_has_tables(self):
        vary = {"batch": {2: BATCH_2, 8: BATCH_8.read_bytes()}}
        predicted = memreplay.replay(vary=vary, at={"batch": 128}, strategies="torch", capacity="256MiB")
        found = memreplay.fit(vary=vary, find="batch", strategies="torch", capacity="256MiB")
        self.assertEqual(found.runs[0].largest_value, 128)
        self.assertEqual(len(found.table()["batch"]), len(found.runs[0]["values"]))
        self.assertEqual(found.table("curves").to_dict(), predicted.table("curves").to_dict())
        self.assertNotIn("stacks", predicted.tables)
        with self.assertRaises(KeyError):
            predicted.table("stacks")
        nowhere = memreplay.fit(vary=vary, find="batch", strategies="torch", capacity="2MiB")
        with self.assertRaises(KeyError):
            nowhere.table("curves")
        self.assertIn("does not fit 2 MiB", nowhere._repr_html_())
        self.assertIn("<svg", predicted._repr_html_())

    def test_files_of_a_run_are_tables(self):
        for name, option in {"events": "--placements", "curves": "--timeline", "segments": "--segments",
                             "device_events": "--device-events"}.items():
            rows = rows_of_command("replay", OOM, "-s", "torch:expandable_segments=True", option, "-")
            columns, _ = arrow_reader.read(self.answer.table(name, run=1))
            self.assertEqual(list(columns), list(rows[0]), name)
            for column, values in columns.items():
                self.assertEqual(["" if value is None else str(value) for value in values], [row[column] for row in rows])

    def test_blocks_live_from_event_to_event(self):
        answer = memreplay.replay(b"op,id,size\na,0,512\na,1,1024\nf,0,\na,0,2048\n", strategies="torch")
        blocks = answer.tables["blocks"]
        self.assertEqual(blocks["from_event"], [0, 1, 3])
        self.assertEqual(blocks["to_event"], [2, None, None])
        self.assertEqual(blocks["size"], [512, 1024, 2048])

    def test_every_question_has_all_tables(self):
        for answer in (memreplay.explain(LAYERS), memreplay.tune(OOM, runs=60), memreplay.info(OOM)):
            for name in answer.tables:
                self.assertGreater(len(answer.table(name)), 0, (answer.command, name))

    def test_stacks_are_what_explain_lists(self):
        rows = rows_of_command("explain", LAYERS, "--csv")
        self.assertEqual(memreplay.explain(LAYERS).table("stacks")["place"], [row["place"] for row in rows])
        self.assertEqual(memreplay.replay(LAYERS, strategies="recorded").table("stacks").columns, list(rows[0]))

    def test_an_empty_table_keeps_its_columns(self):
        segments = memreplay.replay(b"op,id,size\na,0,8\nf,0,\n", strategies="direct").table("segments")
        self.assertEqual((len(segments), segments["bytes"]), (0, []))
        self.assertEqual(arrow_reader.read(segments)[0]["address"], [])

    def test_an_unknown_table_names_those_there_are(self):
        with self.assertRaisesRegex(KeyError, "curves"):
            self.answer.table("curve")

    @unittest.skipUnless(imported("pyarrow"), "pyarrow is not installed")
    def test_pyarrow_takes_them(self):
        import pyarrow

        table = pyarrow.table(self.answer.table("events"))
        table.validate(full=True)
        self.assertEqual(table.column("address").to_pylist(), self.answer.table("events")["address"])

    @unittest.skipUnless(imported("polars"), "polars is not installed")
    def test_polars_takes_them(self):
        import polars

        self.assertEqual(polars.DataFrame(self.answer)["ooms"].to_list(), [1, 0])

    @unittest.skipUnless(imported("pandas"), "pandas is not installed")
    def test_pandas_frames(self):
        frame = self.answer.to_pandas("curves")
        self.assertEqual(frame["reserved"].max(), self.answer.runs[0].peak_reserved_bytes)
        self.assertTrue(self.answer.to_pandas()["peak_reserved_low_bytes"].isna().all())


if __name__ == "__main__":
    unittest.main()
