"""Every command writes its answer in every format that its help offers, whatever the question.

Usage: formats_test.py PROGRAM
"""
import csv
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = ROOT / "traces" / "torch"
PROGRAM = ""

OOM, LATE, SMALL = TORCH / "gpt_train_oom.pickle", TORCH / "warm_ring.pickle", ROOT / "traces" / "maxinuse-350.csv"
LAYERS, PHASES, LEAK = TORCH / "layers_4.pickle", TORCH / "phases.pickle", ROOT / "traces" / "leak.csv"
VARIED = [part for batch in (2, 4) for part in ("--vary", f"batch={batch}:{TORCH}/batch_{batch}.pickle.gz")]
MESSAGE = ("CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB already "
           "allocated; 3.03 GiB free; 1.24 GiB reserved in total by PyTorch)\n")

# The questions of every command, each of which may have an answer of its own. F/ is a folder with
# ranks, message.txt, a tag that is no UTF-8 in latin.csv, a baseline base.json and the parts one.json and two.json.
QUESTIONS = {
    "info": [[SMALL], [OOM], [OOM, LATE]],
    "replay": [[SMALL], [OOM, "-s", "recorded", "-s", "bfc"], [SMALL, LEAK], [*VARIED, "--at", "batch=3"]],
    "compare": [[SMALL, "-s", "torch", "-s", "bfc"], [SMALL, LEAK, "-s", "torch", "-s", "bfc"]],
    "verify": [[OOM], [OOM, LATE]],
    "explain": [[OOM], [LATE], [LEAK], [LEAK, "--growth"], [PHASES, "--by-phase"], ["F/message.txt"],
                [OOM, LEAK], [LATE, "--edit", "scale:stream=0,factor=2"], [LEAK, "--tree"], ["F/latin.csv"]],
    "tune": [[OOM, "--runs", "8"], [SMALL, LEAK, "--runs", "8"],
             [SMALL, "--strategy", "ort-arena", "--runs", "8"]],
    "fit": [[SMALL, "-s", "torch"], [SMALL, LEAK, "-s", "torch"], [SMALL, "-s", "torch", "--device-name", "t4,a100"],
            [*VARIED, "--find", "batch", "--capacity", "256MiB"]],
    "plan": [[SMALL], [SMALL, LEAK, "--timeout", "1"], [SMALL, "--memory", "a=64KiB", "--memory", "b=1GiB"]],
    "check": [[SMALL, "--baseline", "F/base.json"], [SMALL, "--baseline", "F/base.json", "--update"]],
    "diff": [[LAYERS, TORCH / "layers_5.pickle"], [SMALL, "-s", "torch", "-s", "bfc"]],
    "ranks": [["F/ranks"], ["F/ranks", "--shard", "1/2"], ["--merge", "F/one.json"], [SMALL],
              ["--merge", "F/one.json", "F/two.json"], ["F/ranks", "--tune"]],
    "stress": [[LAYERS, "--orders", "4"]],
    "suggest": [[LAYERS, "--budget", "100MiB"], [OOM]],
    "lint": [["max_split_size_mb:128"], ["nothing:1"], [OOM]],
    "list": [["strategies"], ["formats"], ["metrics"], ["cards"], ["workloads"], ["strategies", "torch"],
             ["formats", "csv"]],
    "record": [["-o", "F/run.mrt", "--malloc", "--", "true"]],
}
FORMATS = ["json", "csv", "markdown", "pprof", "collapsed"]


class Formats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        files = self.folder / "F"
        (files / "ranks").mkdir(parents=True)
        for rank, name in enumerate(("layers_4", "layers_5", "layers_4")):
            (files / "ranks" / f"x_rank{rank}.pickle").write_bytes((TORCH / f"{name}.pickle").read_bytes())
        (files / "message.txt").write_text(MESSAGE)
        (files / "latin.csv").write_bytes(b'op,id,size,tag\na,0,100,"caf\xe9"\n')
        for part, name in ((1, "one"), (2, "two")):
            self.run_program("ranks", ["F/ranks", "--shard", f"{part}/2", f"--json=F/{name}.json"])
        self.run_program("check", [SMALL, "--update", "--baseline", "F/base.json"])

    def run_program(self, command, arguments):
        return subprocess.run([PROGRAM, command, *map(str, arguments), "--quiet"], cwd=self.folder, check=False,
                              capture_output=True, text=False, timeout=120, stdin=subprocess.DEVNULL)

    def offered(self, command):
        page = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
        return [name for name in FORMATS if re.search(rf"^ *--{name}\b", page, re.MULTILINE)]

    def test_every_command_with_a_format_is_asked(self):
        page = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+)  ", page, re.MULTILINE)
        commands += re.search(r"Also: (.*)\.", page).group(1).split(", ")
        needs_a_device = {"calibrate"}
        self.assertEqual({name for name in commands if self.offered(name)} - needs_a_device, set(QUESTIONS))

    def check(self, name, written):
        if name == "pprof":
            self.assertNotIn(b"caf\xe9", gzip.decompress(written))
            return
        written.decode()
        if name == "json":
            json.loads(written)
        elif name == "csv":
            rows = list(csv.reader(io.StringIO(written.decode())))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        elif name == "markdown":
            self.assertIn(b"|", written)

    def test_every_question_in_every_format(self):
        for command, questions in QUESTIONS.items():
            for name in self.offered(command):
                for question in questions:
                    with self.subTest(command=command, format=name, question=list(map(str, question))):
                        front = [f"--{name}"]
                        ran = self.run_program(command, front + question)
                        said = ran.stderr.decode()
                        self.assertIn(ran.returncode, (0, 1, 2), said)
                        if ran.returncode == 2 and not ran.stdout:
                            # It has no answer of this form, and says what would have one.
                            self.assertRegex(said, "(?s)^memreplay: .*(expected|needs|no |without|takes|asks for)")
                            continue
                        self.check(name, ran.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
