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
        self.folder = pathlib.Path(folder.name)

    def run_python(self, *arguments, script=OUT_OF_MEMORY, gpu=True, **environment):
        (self.folder / "train.py").write_text(script)
        path = [os.environ["PYTHONPATH"], str(pathlib.Path(__file__).parent / "stand_in")]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1",
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
        done = self.run_python("-m", "memreplay", "run", "train.py", "--lr", "3", RANK="5")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "arguments ['--lr', '3']\n")
        self.assertIn("Fragmentation: the 760 MiB request", done.stderr)
        self.assertIn("expandable_segments:True serves every recorded request", done.stderr)
        self.assertIn("OutOfMemoryError", done.stderr)
        self.assertEqual(self.files(), ["memreplay_rank5.pickle"])

    def test_at_the_end_the_snapshot_is_there_and_the_exit_code_stays(self):
        done = self.run_python("-m", "memreplay", "run", "-o", "out/run_{rank}.pickle", "train.py",
                               script="import torch, sys; torch.cuda.init(); sys.exit(7)")
        self.assertEqual((done.returncode, "Fragmentation" in done.stderr), (7, True))
        self.assertTrue((self.folder / "out/run_0.pickle").exists())

    def test_a_module_runs_too(self):
        done = self.run_python("-m", "memreplay", "run", "-m", "train", "x")
        self.assertEqual((done.returncode, done.stdout), (1, "arguments ['x']\n"))

    def test_a_program_that_is_not_there_is_one_line(self):
        done = self.run_python("-m", "memreplay", "run", "trian.py")
        self.assertEqual((done.returncode, done.stderr), (2, "memreplay: trian.py: no such file; "
                                                          "expected a program of Python (-m names a module)\n"))

    def test_history_is_on_before_the_program_goes_on(self):
        done = self.run_python("-m", "memreplay", "run", "--max-entries", "9", "train.py",
                               script="import torch; torch.cuda.init(); print(torch.cuda.memory.asked)")
        self.assertEqual(done.stdout, "[('all', {'context': 'all', 'stacks': 'python', 'max_entries': 9})]\n")

    def test_without_a_gpu_the_program_runs_all_the_same(self):
        done = self.run_python("-m", "memreplay", "run", "train.py", script="import torch; print('done')", gpu=False)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertIn("used no CUDA device", done.stderr)
        self.assertEqual(self.files(), [])

    def test_without_torch_it_is_said(self):
        done = self.run_python("-m", "memreplay", "run", "train.py", script="print('done')")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertIn("never imported torch", done.stderr)

    def test_a_program_without_its_command_changed(self):
        for script in ("import memreplay.auto, torch\n", "import torch, memreplay.auto\n"):
            done = self.run_python("train.py", script=script + "torch.cuda.allocate_too_much()")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Fragmentation: the 760 MiB request", done.stderr)
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
        done = self.run_python("-m", "memreplay", "run", "-o", "/proc/none/x.pickle", "train.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the snapshot", done.stderr)
        self.assertIn("OutOfMemoryError", done.stderr)


if __name__ == "__main__":
    unittest.main()
