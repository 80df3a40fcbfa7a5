"""check --update by many at once: every entry is in the baseline, whatever each of them calls it.

Usage: updates_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
MANY = 12


class Updates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for i in range(MANY):
            self.recording(i, 4096 * (i + 1))

    def recording(self, number, size):
        (self.folder / f"{number}.csv").write_text(f"op,id,size\na,0,{size}\nf,0,\n")

    def update_all(self, name_of):
        running = [subprocess.Popen([PROGRAM, "check", f"{i}.csv", "--baseline", name_of(i), "--update", "-q"],
                                    cwd=self.folder) for i in range(MANY)]
        self.assertEqual([one.wait() for one in running], [0] * MANY)

    def kept(self, path="b.json"):
        entries = json.loads((self.folder / path).read_text())["entries"]
        return {entry["trace"]: entry["metrics"]["peak_allocated_bytes"]["value"] for entry in entries}

    def expected(self, times=1):
        return {f"{i}.csv": 4096 * (i + 1) * times for i in range(MANY)}

    def test_a_baseline_that_all_of_them_make(self):
        self.update_all(lambda _: "b.json")
        self.assertEqual(self.kept(), self.expected())
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["b.json", *self.expected()]))

    def test_a_baseline_that_all_of_them_change(self):
        self.update_all(lambda _: "b.json")
        for i in range(MANY):
            self.recording(i, 2 * 4096 * (i + 1))
        self.update_all(lambda _: "b.json")
        self.assertEqual(self.kept(), self.expected(2))

    def test_a_baseline_by_several_names(self):
        (self.folder / "real").mkdir()
        (self.folder / "real/b.json").write_text('{"schema": "memreplay-baseline/1", "entries": []}')
        (self.folder / "b.json").symlink_to("real/b.json")
        self.update_all(lambda i: ("b.json", "./b.json", "real/../b.json")[i % 3])
        self.assertTrue((self.folder / "b.json").is_symlink())
        self.assertEqual(len(self.kept("real/b.json")), MANY)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
