"""memreplay record, of programs with what stands for torch."""
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from values import values_in  # noqa: E402

PROGRAM = os.environ["MEMREPLAY_PROGRAM"]
SNAPSHOT = ROOT / "traces/torch/gpt_train_oom.pickle"

USES_CUDA = "import torch; torch.cuda.init()\n"
# What comes while the recording is written: a launcher sends a signal after that of the terminal.
WHILE_WRITING = """import pickle
dump = pickle.dump
def interrupted(*arguments):
    os.kill(os.getpid(), signal.{0})
    dump(*arguments)
    os.kill(os.getpid(), signal.{0})
pickle.dump = interrupted
"""
RUNS_OUT = "import torch; torch.cuda.allocate_too_much()\n"
# For its input, a little at a time: Python sees a signal that comes right before it blocks only behind that.
WAITS = """import select, torch; torch.cuda.init()
try:
    print('ready', flush=True)
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        pass
finally:
    print('finally', flush=True)
"""
# Children of every kind: each says its number.
CHILDREN = """import multiprocessing, os, subprocess, sys
found, snapshot = os.environ["PYTHONPATH"].split(":")[-1], os.environ["STAND_IN_SNAPSHOT"]
use = (f"import os, sys; sys.path.append({found!r}); os.environ['STAND_IN_SNAPSHOT'] = {snapshot!r}; import torch; "
       "torch.cuda.init(); print(os.getpid(), flush=True)")

def spawned():
    exec(use, {})

if __name__ == "__main__":
    python, kept = [sys.executable, "-c", use], {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/nowhere"}
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command, environment in ((python, None), (python, own), (python, without), (python, kept), (python, {}),
                                 (python, {**os.environ, "LD_PRELOAD": "libm.so.6"}), (["env", "-i", *python], None),
                                 (["env", "-i", "sh", "-c", 'exec "$0" -c "$1"', *python[::2]], None),
                                 ([sys.executable, "-I", "-c", use], None), ([sys.executable, "-E", "-c", use], kept)):
        subprocess.run(command, env=environment, check=True)
    os.waitpid(os.posix_spawn(sys.executable, python, {}), 0)
    for method in ("spawn", "forkserver"):
        child = multiprocessing.get_context(method).Process(target=spawned)
        child.start(); child.join()
    os.execve(sys.executable, python, {})
"""
# Takes as many GiB as it is told; the first process starts two others.
CALLS_CUDA = """import ctypes, os, subprocess, sys
gpu = ctypes.CDLL(os.environ["PYTHONPATH"].split(":")[0] + "/libmemreplay_gpu.so")
at, free, total = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()

def free_gib():
    gpu.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
    return free.value >> 30

size = int(sys.argv[1])
print(f"{size} GiB:", gpu.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(size << 30)), end=", ")
print(free_gib(), "free", flush=True)
if size == 6:
    for size in "54":
        subprocess.run([sys.executable, __file__, size], check=True)
    print("at the end:", free_gib(), "free", flush=True)
"""


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name) / "home"
        self.folder = pathlib.Path(folder.name) / "work"
        self.home.mkdir()
        self.folder.mkdir()
        self.environment = {
            **os.environ, "HOME": str(self.home), "PYTHONPATH": str(ROOT / "tests/python/stand_in"),
            "PYTHONDONTWRITEBYTECODE": "1", "STAND_IN_SNAPSHOT": str(SNAPSHOT)}
        for name in ("XDG_CACHE_HOME", "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "LOCAL_WORLD_SIZE"):
            self.environment.pop(name, None)

    def command(self, script, *options, interpreter=sys.executable):
        (self.folder / "train.py").write_text("import os, signal, sys\n" + script)
        return [PROGRAM, "record", *options, "--", interpreter, "train.py", "one", "two words"]

    def record(self, script, *options, stdin="", interpreter=sys.executable, **environment):
        command = self.command(script, *options, interpreter=interpreter)
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, input=stdin,
                              env={**self.environment, **environment}, check=False)

    def files(self):
        return sorted(file.name for file in self.folder.iterdir() if file.name not in ("train.py", "own"))

    def assert_recorded(self, *names):
        self.assertEqual(self.files(), list(names) or ["recording.pickle"])
        for name in self.files():
            self.assertIn("device_traces", values_in(self.folder / name))

    def started(self, script, *options, **keywords):
        """The program when it waits; it is told to end where the test has not."""
        running = subprocess.Popen(self.command(script, *options), cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment,
                                   start_new_session=True, **keywords)
        self.assertEqual(running.stdout.readline(), "ready\n")
        return running

    def ended(self, running):
        """What it printed. Its input stays open till then: it ends by the signal alone."""
        running.wait(timeout=60)
        return running.communicate()[0]

    def test_a_cache_that_no_variable_can_name_is_not_used(self):
        for name in ("a b", "a:b", "$ORIGIN"):
            with self.subTest(name):
                done = self.record(USES_CUDA, XDG_CACHE_HOME=str(self.home / name), TMPDIR=str(self.home))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_recorded()
                done = subprocess.run([PROGRAM, "record", "--malloc", "-o", "calls.mrt", "--", "ls", "/"],
                                      cwd=self.folder, capture_output=True, text=True, check=True,
                                      env={**self.environment, "XDG_CACHE_HOME": str(self.home / name), "TMPDIR": str(self.home)})
                self.assertIn("calls.mrt: ", done.stdout)
                (self.folder / "recording.pickle").unlink()
                (self.folder / "calls.mrt").unlink()

    def test_a_damaged_cache_is_made_anew(self):
        self.record(USES_CUDA)
        for file in (self.home / ".cache/memreplay").glob("record-*/*"):
            os.truncate(file, 10)
        done = self.record(USES_CUDA)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_recorded()

    def test_a_folder_where_others_can_write_is_named_and_not_used(self):
        (self.home / ".cache").mkdir()
        (self.home / ".cache").chmod(0o777)
        with tempfile.TemporaryDirectory() as temporary:
            taken = pathlib.Path(temporary) / f"memreplay-{os.geteuid()}"
            taken.mkdir()
            taken.chmod(0o777)
            done = self.record(USES_CUDA, TMPDIR=temporary)
            self.assertIn("can be written by others; a fresh folder is used instead", done.stderr)
            self.assertEqual(os.listdir(temporary), [taken.name])
            self.assertEqual(os.listdir(taken), [])
        self.assert_recorded()

    def test_it_is_written_at_the_end(self):
        done = self.record(USES_CUDA + "print('done', sys.argv[1:])")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "done ['one', 'two words']")
        self.assertIn("recording.pickle: ", done.stdout)
        self.assert_recorded()

    def test_its_exit_status_is_the_programs(self):
        for ending, status in (("sys.exit(7)", 7), ("raise SystemExit('no')", 1), ("1 / 0", 1)):
            done = self.record(USES_CUDA + ending)
            self.assertEqual(done.returncode, status)
            self.assertIn(f"The program ended with status {status}.", done.stdout)
            self.assert_recorded()

    def test_the_programs_output_is_untouched(self):
        done = self.record(USES_CUDA + "print('mine')", "--quiet", "-o", "-x.pickle")
        again = subprocess.run([sys.executable, "train.py"], cwd=self.folder, env=self.environment,
                               capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith(again.stdout))
        self.assertEqual(done.stderr, "")

    def test_its_input_is_the_programs(self):
        done = self.record(USES_CUDA + "print(sys.stdin.read().upper())", stdin="a line")
        self.assertEqual(done.stdout.splitlines()[0], "A LINE")

    def test_an_oom_that_ends_the_program_is_explained(self):
        done = self.record(RUNS_OUT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("OutOfMemoryError", done.stderr)
        self.assertIn("Fragmentation: the 759 MiB request", done.stdout)
        self.assert_recorded()

    def test_an_oom_is_kept_where_the_program_ends_at_once(self):
        done = self.record("import torch\ntry:\n    torch.cuda.allocate_too_much()\n"
                           "except RuntimeError:\n    os._exit(5)")
        self.assertEqual(done.returncode, 5)
        self.assert_recorded()

    def test_a_signal_writes_before_it_ends_the_program(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            running = self.started(WAITS)
            running.send_signal(number)
            out = self.ended(running)
            self.assertEqual(running.returncode, status)
            self.assertIn(f"The program was ended by signal {number.value}.", out)
            self.assert_recorded()
            (self.folder / "recording.pickle").unlink()

    def test_a_signal_that_the_program_handles_is_its_own(self):
        running = self.started("signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))\n" + WAITS)
        running.send_signal(signal.SIGTERM)
        self.ended(running)
        self.assertEqual(running.returncode, 4)
        self.assert_recorded()

    def test_a_program_that_is_asked_to_write_goes_on(self):
        running = self.started(WAITS + "os._exit(0)  # nothing is written here\n")
        running.send_signal(signal.SIGUSR1)
        self.wait_for_a_file(".pickle")
        out, _ = running.communicate("end", timeout=60)
        self.assertEqual(running.returncode, 0)
        self.assertIn("finally", out)
        self.assert_recorded()

    def test_ctrl_c_ends_the_program_and_not_the_recording(self):
        running = self.started(WAITS)
        os.killpg(running.pid, signal.SIGINT)
        out = self.ended(running)
        self.assertEqual(running.returncode, 130)
        self.assertIn("finally", out)
        self.assert_recorded()

    def test_a_signal_while_it_is_written_waits(self):
        for ends in ("", "os.kill(os.getpid(), signal.SIGTERM)\n"):
            for name, status in (("SIGTERM", 143), ("SIGHUP", 129)):
                with self.subTest(ends=ends, name=name):
                    done = self.record(USES_CUDA + WHILE_WRITING.format(name) + ends)
                    self.assertEqual((done.returncode, done.stderr), (status, ""))
                    self.assert_recorded()
                    (self.folder / "recording.pickle").unlink()
        done = self.record(USES_CUDA + WHILE_WRITING.format("SIGINT"))
        self.assertIn("KeyboardInterrupt", done.stderr)
        self.assert_recorded()

    def test_an_own_handler_while_it_is_written_waits_too(self):
        own = "signal.signal(signal.SIGTERM, lambda *_: (print('own', flush=True), os._exit(4)))\n"
        done = self.record(own + USES_CUDA + WHILE_WRITING.format("SIGTERM"))
        self.assertEqual((done.returncode, done.stdout.count("own\n")), (4, 1), done.stderr)
        self.assert_recorded()
        (self.folder / "recording.pickle").unlink()
        ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        done = self.record(ignored + USES_CUDA + WHILE_WRITING.format("SIGHUP"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_recorded()

    def test_a_full_disk_ends_the_recording_and_not_the_program(self):
        # A limit on the size of files: of the recording, then of what the process tells too.
        for limit, why in ((4096, "cannot write the snapshot: [Errno 27] File too large"),
                           (8, "it was cut off while it told what it did; is the disk full?")):
            with self.subTest(limit):
                full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
                done = self.record(full + USES_CUDA + "print('goes on')\n")
                self.assertIn("goes on", done.stdout)
                self.assertRegex(done.stderr.splitlines()[-1], rf"^memreplay: process \d+: {re.escape(why)}$")
                self.assertNotIn("Traceback", done.stderr)
                self.assertNotIn("Nothing was recorded", done.stdout)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(self.files(), [])

    def wait_for_a_file(self, ending):
        """In the folder where processes leave them."""
        deadline = 600
        while not list(self.folder.glob(f".memreplay-*/*{ending}")):
            deadline -= 1
            self.assertGreater(deadline, 0)
            subprocess.run(["sleep", "0.1"], check=True)

    def test_it_is_written_at_a_step(self):
        steps = "from torch.optim.optimizer import step\nfor i in range({}): step()\nprint(torch.cuda.memory.asked)\n"
        done = self.record(USES_CUDA + steps.format(3), "--at-step", "2")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.splitlines()[0].endswith("(None, {})]"), done.stdout)  # switched off there
        self.assert_recorded()

    def test_the_options_are_those_of_the_history(self):
        script = USES_CUDA + "print(torch.cuda.memory.asked)"
        done = self.record(script, "--stacks", "none", "--max-entries", "9")
        self.assertEqual(done.stdout.splitlines()[0],
                         "[('all', {'context': None, 'stacks': 'python', 'max_entries': 9})]")
        done = self.record(script, "--stacks", "all")
        self.assertIn("'context': 'all', 'stacks': 'all'", done.stdout.splitlines()[0])

    def test_the_programs_own_switches_are_left_aside(self):
        script = USES_CUDA + "history = torch.cuda.memory._record_memory_history\n"
        done = self.record(script + "history(max_entries=9); history(enabled=None); print(torch.cuda.memory.asked)")
        self.assertEqual(done.stdout.splitlines()[0].count("max_entries"), 1)
        self.assertIn("called _record_memory_history 2 times: these calls were ignored", " ".join(done.stdout.split()))
        self.assert_recorded()

    def test_a_switch_before_cuda_is_used_does_not_count(self):
        done = self.record("import torch; torch.cuda.memory._record_memory_history(max_entries=9)\n" + USES_CUDA)
        self.assertNotIn("left aside", done.stdout)
        self.assert_recorded()

    def test_a_child_of_fork_does_not_write(self):
        done = self.record(USES_CUDA + "if os.fork() == 0: sys.exit()\nos.wait()")
        self.assertEqual(done.returncode, 0)
        self.assert_recorded()

    def test_processes_that_are_spawned_have_files_of_their_own(self):
        done = self.record("import multiprocessing, torch\n"
                           "if __name__ == '__main__':\n"
                           "    torch.cuda.init()\n"
                           "    child = multiprocessing.get_context('spawn').Process(target=torch.cuda.init)\n"
                           "    child.start(); child.join(); print(os.getpid(), child.pid)\n")
        pids = done.stdout.splitlines()[0].split()
        self.assert_recorded(*sorted(f"recording-{pid}.pickle" for pid in pids))

    def test_a_child_is_recorded_whatever_its_environment_is(self):
        done = self.record(CHILDREN)
        pids = done.stdout.split("recording-")[0].split()
        self.assertEqual((done.stderr, len(pids)), ("", 14))
        self.assert_recorded(*sorted(f"recording-{pid}.pickle" for pid in pids))

    def test_what_was_preloaded_stays(self):
        done = self.record("print(os.environ['LD_PRELOAD'].split(':')[0])", LD_PRELOAD="libm.so.6")
        self.assertEqual(done.stdout.splitlines()[0], "libm.so.6")

    def test_ranks_have_files_of_their_own(self):
        script = "import subprocess\nif 'RANK' not in os.environ:\n    for rank in '01':\n" \
                 "        subprocess.run([sys.executable, 'train.py'], env={**os.environ, 'RANK': rank})\n" \
                 "else:\n    import torch; torch.cuda.init()\n"
        self.record(script, "-o", "r{rank}.pickle")
        self.assert_recorded("r0.pickle", "r1.pickle")

    def test_a_rank_that_left_no_recording_is_named_first(self):
        script = "import subprocess\nif 'RANK' not in os.environ:\n    for rank in '01':\n" \
                 "        subprocess.run([sys.executable, 'train.py'], env={**os.environ, 'RANK': rank})\n" \
                 "else:\n    import torch; torch.cuda.init()\n    if os.environ['RANK'] == '1': os.kill(os.getpid(), signal.SIGKILL)\n"
        done = self.record(script, "-o", "r{rank}.pickle")
        self.assert_recorded("r0.pickle")
        first = " ".join(done.stdout.split("\n r0.pickle")[0].split())
        self.assertRegex(first, r"Not all was recorded: rank 1 \(process \d+\) used CUDA and has no recording; it ended by os\._exit or a signal")

    def test_a_sitecustomize_of_the_users_own_runs(self):
        own = self.folder / "own"
        own.mkdir()
        (own / "sitecustomize.py").write_text("print('mine')")
        path = os.pathsep.join([str(own), self.environment["PYTHONPATH"]])
        done = self.record(USES_CUDA + "print(os.environ['PYTHONPATH'])", PYTHONPATH=path)
        mine, seen = done.stdout.splitlines()[:2]
        self.assertEqual(mine, "mine")
        self.assertTrue(seen.endswith(os.pathsep + path), seen)
        self.assert_recorded()

    def test_the_search_path_is_the_programs_own(self):
        script = "print(sys.path)"
        done = self.record(script)
        again = subprocess.run([sys.executable, "train.py"], cwd=self.folder, env=self.environment,
                               capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines()[0], again.stdout.strip())

    def test_without_torch_it_is_said_and_the_target_stays(self):
        (self.folder / "recording.pickle").write_text("before")
        done = self.record("print('done')")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Nothing was recorded: no process imported torch.", done.stdout)
        self.assertEqual((self.folder / "recording.pickle").read_text(), "before")
        self.assertEqual(self.files(), ["recording.pickle"])

    def test_a_torch_that_does_not_load_leads_to_a_virtual_gpu(self):
        broken = self.folder / "own/torch"
        broken.mkdir(parents=True)
        for error, leads in (("ImportError('libcufile.so.0: cannot open shared object file')", True),
                             ("ValueError('libcublas.so.*[0-9] not found in the system path')", True),
                             ("ImportError('no numpy')", False)):
            with self.subTest(error):
                (broken / "__init__.py").write_text(f"raise {error}\n")
                done = self.record("import torch", PYTHONPATH=str(broken.parent))
                said = " ".join(done.stdout.split())
                self.assertEqual(done.returncode, 1)
                self.assertIn("Nothing was recorded: torch did not load (", said)
                self.assertNotIn("no process imported torch", said)
                self.assertEqual("memreplay record --virtual-gpu rtx-4090 --" in said, leads)

    def test_a_program_that_finds_no_torch_is_told_how_little_is_enough(self):
        bare = self.home / "python3"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        bare.chmod(0o755)
        blocked = "sys.path[:] = [p for p in sys.path if 'packages' not in p and 'stand_in' not in p]\nimport torch"
        done = self.record(blocked, interpreter=bare)
        said = " ".join(done.stdout.split())
        self.assertIn("Nothing was recorded: the program found no torch.", said)
        self.assertIn(f"{bare} -m pip install --no-deps torch && {bare} -m pip install numpy", said)

    def test_without_use_of_cuda_it_is_said(self):
        done = self.record("import torch")
        self.assertIn("Nothing was recorded: the program imported torch and never used CUDA.", done.stdout)
        self.assertIn("\n   memreplay record --virtual-gpu rtx-4090 -- ", done.stdout)
        self.assertEqual(self.files(), [])

    def test_a_missing_folder_is_said_before_the_program_starts(self):
        done = self.record("open('started', 'w')", "-o", "none/run.pickle")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none/run.pickle", done.stderr)
        self.assertEqual(self.files(), [])

    def test_what_is_no_file_is_refused_before_the_program_starts(self):
        os.mkfifo(self.folder / "pipe.mrt")
        (self.folder / "link.mrt").symlink_to("none")
        for options in (["-o", "pipe.mrt"], ["-o", "pipe.mrt", "--malloc"], ["-o", "link.mrt"]):
            done = self.record("open('started', 'w')", *options)
            self.assertEqual((done.returncode, self.files()), (2, ["link.mrt", "pipe.mrt"]))
            self.assertIn(f"{options[1]}: a ", done.stderr)
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe.mrt").lstat().st_mode))

    def test_a_link_stays_and_its_file_is_written(self):
        (self.home / "kept.pickle").write_text("old")
        (self.folder / "recording.pickle").symlink_to(self.home / "kept.pickle")
        self.record(USES_CUDA)
        self.assertTrue((self.folder / "recording.pickle").is_symlink())
        self.assertIn("device_traces", values_in(self.home / "kept.pickle"))

    def test_an_interpreter_without_torch_is_refused_before_the_program_starts(self):
        bare = self.home / "python3"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
        bare.chmod(0o755)
        done = self.record("", "--virtual-gpu", "t4", interpreter=bare, PYTHONPATH="")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"memreplay: {bare} has no torch; on a virtual GPU it needs none of NVIDIA's packages: "
                      f"{bare} -m pip install --no-deps torch && {bare} -m pip install numpy", done.stderr)

    def test_a_torch_without_cuda_is_refused_before_the_program_starts(self):
        done = self.record("open('started', 'w')", "--virtual-gpu", "t4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("stand_in/torch: is a torch without CUDA (no lib/libtorch_cuda.so); expected one built for it",
                      done.stderr)
        self.assertEqual(self.files(), [])

    def test_a_torch_without_cuda_ends_a_program_that_is_no_interpreter(self):
        (self.folder / "train.py").write_text("import torch")
        done = subprocess.run([PROGRAM, "record", "--virtual-gpu", "t4", "--", "sh", "-c",
                               f"{sys.executable} train.py; echo $?"],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines()[0], "2")
        self.assertIn("is a torch without CUDA", done.stderr)

    def test_the_processes_of_a_program_share_a_virtual_card(self):
        (self.folder / "train.py").write_text(CALLS_CUDA)
        done = subprocess.run([PROGRAM, "record", "--virtual-gpu", "t4:memory=10GiB", "--", "sh", "-c",
                               f"{sys.executable} train.py 6"],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines()[:4], ["6 GiB: 0, 4 free", "5 GiB: 2, 4 free", "4 GiB: 0, 0 free",
                                                        "at the end: 4 free"])
        self.assertEqual((self.files(), done.stderr), ([], ""))

    def test_the_answer_is_json_too(self):
        done = self.record(RUNS_OUT, "--json=answer.json")
        self.assertEqual(done.returncode, 1)
        answer = (self.folder / "answer.json").read_text()
        self.assertIn('"exit_status": 1', answer)
        self.assertIn('"ooms": 1', answer)

    def test_nothing_is_written_beside_the_cache(self):
        self.record(USES_CUDA)
        self.assertEqual([path.name for path in self.home.iterdir()], [".cache"])
        self.assertEqual([path.name for path in (self.home / ".cache").iterdir()], ["memreplay"])


if __name__ == "__main__":
    unittest.main()
