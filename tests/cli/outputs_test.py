"""No output is an input, nor another output, by whatever name: refused before anything is written.

Usage: outputs_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDING = ROOT / "traces" / "torch" / "gpt_train_oom.pickle"
PROGRAM = ""

REPLAY = ["replay", "run.pickle", "-s", "torch"]
CHECK = ["check", "run.pickle", "--baseline", "base.json"]

# Every option that writes: the command, with {} for its file, and the inputs that it has.
OUTPUTS = [
    *[(REPLAY + [f"--{name}", "{}"], ["run.pickle"])
      for name in ("placements", "timeline", "device-events", "segments", "perfetto")],
    *[(REPLAY + ["--cost", "cost.json", f"--{name}={{}}"], ["run.pickle", "cost.json"])
      for name in ("json", "csv", "markdown")],
    (["compare", "run.pickle", "-s", "torch", "--timeline", "{}"], ["run.pickle"]),
    (["info", "run.pickle", "--json={}"], ["run.pickle"]),
    (["verify", "run.pickle", "--json={}"], ["run.pickle"]),
    (["explain", "run.pickle", "--markdown={}"], ["run.pickle"]),
    (["tune", "run.pickle", "--runs", "8", "--csv={}"], ["run.pickle"]),
    (["fit", "run.pickle", "--json={}"], ["run.pickle"]),
    (["ranks", "run.pickle", "--csv={}"], ["run.pickle"]),
    (["lint", "run.pickle", "--json={}"], ["run.pickle"]),
    (["diff", "run.pickle", "second.pickle", "--json={}"], ["run.pickle", "second.pickle"]),
    (["report", "page.html", "-o", "{}"], ["page.html"]),
    (["convert", "run.pickle", "{}"], ["run.pickle"]),
    (["convert", "run.pickle", "{}", "-s", "torch"], ["run.pickle"]),
    (["convert", "run.pickle", "{}", "--minimise", "--anonymise"], ["run.pickle"]),
    *[(CHECK + [f"--{name}", "{}"], ["run.pickle", "base.json"])
      for name in ("junit", "github", "bencher", "benchmark-action", "oss-benchmark")],
    (CHECK + ["--csv={}"], ["run.pickle", "base.json"]),
    (CHECK + ["--update", "--json={}"], ["run.pickle", "base.json"]),
    (["check", "run.pickle", "--update", "--baseline", "{}"], ["run.pickle"]),
]

NAMES = {
    "same": lambda path: path.name,
    "dotted": lambda path: f"./{path.name}",
    "absolute": str,
    "symbolic": lambda path: linked(path, os.symlink),
    "hard": lambda path: linked(path, os.link),
}


def linked(path, link):
    other = path.with_name(f"other{path.suffix}")
    link(path, other)
    return other.name


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("run.pickle", "second.pickle", "page.html"):
            (self.folder / name).write_bytes(RECORDING.read_bytes())
        self.write("cost.json", {"schema": "memreplay-profile/1", "device": {}, "calls": dict.fromkeys(
            ("alloc", "free", "map", "unmap"), {"sizes": []})})
        self.write("base.json", {"schema": "memreplay-baseline/1", "entries": []})

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value))

    def content(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def run_program(self, arguments, **streams):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=not streams, text=True,
                              check=False, timeout=60, **streams)

    def expect_refused(self, arguments, *words):
        before = self.content()
        run = self.run_program(arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), f"{arguments}: {run.stderr}")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(self.content(), before)

    def test_no_output_replaces_an_input_by_whatever_name(self):
        for arguments, inputs in OUTPUTS:
            for name in inputs:
                for how, named in NAMES.items():
                    with self.subTest(arguments=" ".join(arguments), input=name, how=how):
                        output = named(self.folder / name)
                        self.expect_refused([word.format(output) if "{}" in word else word for word in arguments],
                                            "the same file as", name, "no output replaces an input")
                        for other in self.folder.glob("other.*"):
                            other.unlink()

    def test_a_number_of_the_run_is_no_way_around(self):
        (self.folder / "run.pickle").rename(self.folder / "run1.pickle")
        self.expect_refused(["replay", "run1.pickle", "-s", "torch", "--timeline", "run{n}.pickle"], "run1.pickle")
        self.expect_refused(["replay", "run1.pickle", "-s", "torch", "--timeline", "a{n}", "--segments", "a1"], "a1")

    def test_standard_input_is_an_input(self):
        with open(self.folder / "run.pickle", "rb") as given:
            run = self.run_program(["info", "-", "--json=run.pickle"], stdin=given, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 2)
        self.assertIn("the same file as standard input", run.stderr)
        self.assertEqual((self.folder / "run.pickle").read_bytes(), RECORDING.read_bytes())

    def test_standard_output_is_an_output(self):
        with open(self.folder / "run.pickle", "ab") as given:
            run = self.run_program(["info", "run.pickle"], stdout=given, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 2)
        self.assertIn("standard output: the same file as the recording run.pickle", run.stderr)
        self.assertEqual((self.folder / "run.pickle").read_bytes(), RECORDING.read_bytes())

    def test_each_output_has_a_file_of_its_own(self):
        (self.folder / "old").write_text("old")
        os.link(self.folder / "old", self.folder / "hard")
        for one, other in (("new", "new"), ("new", "./new"), ("new", str(self.folder / "new")), ("old", "hard")):
            self.expect_refused(REPLAY + [f"--json={one}", f"--csv={other}"], "expected a file for each output")
            self.expect_refused(REPLAY + ["--timeline", one, "--placements", other],
                                "expected a file for each output")
            self.expect_refused(CHECK + [f"--json={one}", "--junit", other], "expected a file for each output")

    def test_what_keeps_nothing_may_be_named_twice(self):
        run = self.run_program(REPLAY + ["--timeline", "/dev/null", "--placements", "/dev/null", "--json=/dev/null"])
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_work_ends_where_its_output_cannot_be_written(self):
        endless = ["generate", "random", "--to", "mrt", "--live", "100", "--events", str(10 ** 15)]
        run = self.run_program([*endless, "/dev/full"])
        self.assertEqual((run.returncode, run.stderr),
                         (2, "memreplay: /dev/full: cannot write: No space left on device\n"))
        with open("/dev/full", "w") as full:
            run = self.run_program([*endless, "-"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((run.returncode, run.stderr),
                         (2, "memreplay: standard output: No space left on device\n"))
        reader, writer = os.pipe()
        os.close(reader)
        run = self.run_program([*endless, "-"], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_reader_that_has_gone_changes_no_exit_status(self):
        self.assertEqual(self.run_program(CHECK + ["--update"]).returncode, 0)
        base = json.loads((self.folder / "base.json").read_text())
        for entry in base["entries"]:
            for metric in entry["metrics"].values():
                metric["value"] = 0
        self.write("base.json", base)
        answers_no = [CHECK, CHECK + ["--json"], CHECK + ["--csv=-"], CHECK + ["--junit", "-"],
                      CHECK + ["--github", "-"], ["lint", "max_split_size_mb:1"],
                      ["fit", "run.pickle", "-s", "torch", "--capacity", "1MiB"],
                      ["plan", "run.pickle", "--capacity", "1MiB"],
                      ["plan", "run.pickle", "--capacity", "1MiB", "--placements", "-"]]
        reader, writer = os.pipe()
        os.close(reader)
        for arguments in answers_no:
            with self.subTest(arguments=" ".join(arguments)):
                self.assertEqual(self.run_program(arguments).returncode, 1)
                gone = self.run_program(arguments, stdout=writer, stderr=subprocess.PIPE)
                self.assertEqual((gone.returncode, gone.stderr.count("\n")), (1, 0), gone.stderr)
                closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", PROGRAM, *arguments], cwd=self.folder,
                                        check=False, timeout=60, stderr=subprocess.DEVNULL)
                self.assertEqual(closed.returncode, 1)
        os.close(writer)

    def test_no_output_that_cannot_be_written_is_passed_over(self):
        tried = 0
        for arguments, _ in OUTPUTS:
            if self.run_program([word.format("written") for word in arguments]).returncode == 2:
                continue  # for what it asks, not for where it writes
            with self.subTest(arguments=" ".join(arguments)):
                run = self.run_program([word.format("/dev/full") for word in arguments])
                self.assertEqual(run.returncode, 2)
                self.assertIn(run.stderr, ("memreplay: /dev/full: cannot write: No space left on device\n",
                                           "memreplay: /dev/full: is a device: expected a file\n"))
                tried += 1
        self.assertGreater(tried, 15)

    def test_a_link_to_nothing_is_no_output(self):
        (self.folder / "link").symlink_to("none/there")
        (self.folder / "loop").symlink_to("loop")
        for name in ("link", "loop"):
            run = self.run_program(["convert", "run.pickle", name, "--to", "csv"])
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"memreplay: {name}: a link to what is not there", run.stderr)
            self.assertTrue((self.folder / name).is_symlink())

    def test_a_baseline_is_renewed_and_a_link_to_another_file_is_followed(self):
        self.assertEqual(self.run_program(CHECK + ["--update"]).returncode, 0)
        self.assertEqual(self.run_program(CHECK).returncode, 0)
        (self.folder / "old").write_text("old")
        (self.folder / "link").symlink_to("old")
        self.assertEqual(self.run_program(REPLAY + ["--json=link"]).returncode, 0)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertIn("memreplay/1", (self.folder / "old").read_text())


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
