"""python -m memreplay, with what stands for torch."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import OOM, PROGRAM

OUT_OF_MEMORY = """
import sys, torch
print("arguments", sys.argv[1:])
torch.cuda.allocate_too_much()
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "work"
        self.folder.mkdir()

    def run_python(self, *arguments, script=OUT_OF_MEMORY, gpu=True, **environment):
        (self.folder / "train.py").write_text(script)
        path = [os.environ["PYTHONPATH"], str(pathlib.Path(__file__).parent / "stand_in")]
        known = {**os.environ, "XDG_CACHE_HOME": f"{self.folder.parent}/cache", "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1",
                 "PATH": f"{pathlib.Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}", **environment}
        if gpu:
            known["STAND_IN_SNAPSHOT"] = str(OOM)
        return subprocess.run([sys.executable, *arguments], cwd=self.folder, env=known, capture_output=True, text=True)

    def files(self):
        return sorted(file.name for file in self.folder.iterdir() if file.name != "train.py")

    def test_the_program_is_there(self):
        done = self.run_python("-m", "memreplay", "--version")
        self.assertEqual((done.returncode, done.stdout[:10]), (0, "memreplay "))
        self.assertEqual(self.run_python("-m", "memreplay", "explain").returncode, 2)

    def test_an_oom_is_explained_and_passed_on(self):
        done = self.run_python("-m", "memreplay", "run", "train.py", "--lr", "3")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[0], "arguments ['--lr', '3']")
        self.assertIn("Fragmentation: the 759 MiB request", done.stdout)
        self.assertIn("expandable_segments:True serves every recorded request", done.stdout)
        self.assertIn("OutOfMemoryError", done.stderr)
        self.assertEqual(self.files(), ["recording.pickle"])

    def test_the_options_are_those_of_record(self):
        done = self.run_python("-m", "memreplay", "run", "--quiet", "--max-entries", "9", "-o", "r{rank}.pickle", "train.py",
                               script="import torch; torch.cuda.init(); print(torch.cuda.memory.asked)", RANK="5")
        self.assertEqual(done.stdout, "[('all', {'context': 'all', 'stacks': 'python', 'max_entries': 9})]\n")
        self.assertEqual(self.files(), ["r5.pickle"])
        self.assertEqual(self.run_python("-m", "memreplay", "run", "--help-all").stdout,
                         self.run_python("-m", "memreplay", "record", "--help-all").stdout)

    def test_the_exit_code_stays(self):
        done = self.run_python("-m", "memreplay", "run", "train.py",
                               script="import torch, sys; torch.cuda.init(); sys.exit(7)")
        self.assertEqual((done.returncode, self.files()), (7, ["recording.pickle"]))

    def test_a_module_runs_too(self):
        done = self.run_python("-m", "memreplay", "run", "-m", "train", "x")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (1, "arguments ['x']"))

    def test_the_program_has_the_interpreter_and_its_flags(self):
        done = self.run_python("-O", "-X", "dev", "-m", "memreplay", "run", "train.py",
                               script="import sys; print(sys.executable, sys.flags.optimize, sys.flags.dev_mode)")
        self.assertEqual(done.stdout.splitlines()[0], f"{sys.executable} 1 True")

    def test_each_rank_that_is_run_has_a_file(self):
        for rank in "01":
            self.run_python("-m", "memreplay", "run", "train.py", script="import torch; torch.cuda.init()", RANK=rank)
        self.assertEqual(self.files(), ["recording-rank0.pickle", "recording-rank1.pickle"])

    def test_without_use_of_cuda_it_is_said(self):
        done = self.run_python("-m", "memreplay", "run", "train.py", script="import torch; print('done')", gpu=False)
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "done"))
        self.assertIn("never used CUDA", done.stdout)
        self.assertEqual(self.files(), [])

    def test_a_program_without_its_command_changed(self):
        for script in ("import memreplay.auto, torch\n", "import torch, memreplay.auto\n"):
            done = self.run_python("train.py", script=script + "torch.cuda.allocate_too_much()")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Fragmentation: the 759 MiB request", done.stderr)
            self.assertEqual(self.files(), ["memreplay_rank0.pickle"])
            (self.folder / "memreplay_rank0.pickle").unlink()

    def test_processes_do_not_share_a_file(self):
        script = ("import memreplay.auto, multiprocessing, torch\n"
                  "if __name__ == '__main__':\n"
                  "    child = multiprocessing.get_context('spawn').Process(target=torch.cuda.allocate_too_much)\n"
                  "    child.start(); child.join(); torch.cuda.init()\n")
        self.run_python("train.py", script=script)
        self.assertEqual(self.files(), ["memreplay_rank0.pickle", "memreplay_rank1.pickle"])

    def test_a_place_that_cannot_be_written_does_not_hide_the_oom(self):
        (self.folder / "memreplay_rank0.pickle").mkdir()
        done = self.run_python("train.py", script="import memreplay.auto, torch\ntorch.cuda.allocate_too_much()")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the snapshot", done.stderr)
        self.assertIn("OutOfMemoryError", done.stderr)


if __name__ == "__main__":
    unittest.main()
