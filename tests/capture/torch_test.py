"""memreplay record with a real torch: MEMREPLAY_TORCH names its interpreter (tools/test_torch makes one).

Every program of programs/ is recorded on a virtual GPU, and what the commands say of the recordings is checked."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from values import values_in  # noqa: E402

PROGRAM = os.environ["MEMREPLAY_PROGRAM"]
PYTHON = os.environ.get("MEMREPLAY_TORCH", "")
SETTINGS = ("", "expandable_segments:True")
BUILT_FOR = "import importlib.util as u; print(open(u.find_spec('torch').origin[:-11] + 'version.py').read())"


class WithTorch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.home = CACHE.name

    def run_here(self, *arguments, **environment):
        known = {**os.environ, "HOME": self.home, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **environment}
        for name in ("XDG_CACHE_HOME", "PYTHONPATH"):
            known.pop(name, None)
        return subprocess.run([str(argument) for argument in arguments], cwd=self.folder, env=known,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def memreplay(self, *arguments):
        done = self.run_here(PROGRAM, *arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stdout, done.stderr))
        return done.stdout

    def record(self, *program, output="run.pickle", card="a100-40g", options=(), settings="", status=0,
               environment=None):
        """What the program and the command print."""
        environment = {**(environment or {}), **({"PYTORCH_CUDA_ALLOC_CONF": settings} if settings else {})}
        done = self.run_here(PROGRAM, "record", "--virtual-gpu", card, "-o", output, *options, "--", PYTHON, *program,
                             **environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def version(self):
        done = self.run_here(PYTHON, "-c", "import importlib.metadata as m; print(m.version('torch'))")
        return tuple(int(number) for number in done.stdout.split(".")[:2])

    def recorded(self, name):
        return (self.folder / name).read_bytes()

    def assert_exact(self, *names):
        for line in self.memreplay("verify", *names).splitlines():
            if " placements" in line:
                self.assertTrue(line.strip().startswith("exact"), line)


class Programs(WithTorch):
    """A test for each program and setting: exact, understood by every command, and the same file again."""

    def check_program(self, program, settings):
        if program.stem == "distributed":
            self.check_ranks(program, settings)
            return
        printed = self.record(program, settings=settings)
        if printed.startswith("skipped: "):
            self.skipTest(printed.splitlines()[0])
        self.assertIn("done\n", printed)
        self.assert_exact("run.pickle")
        self.assert_understood("run.pickle")
        self.record(program, output="again.pickle", settings=settings)
        self.assertTrue(self.told("again.pickle") == self.told("run.pickle"), "recorded twice")

    def told(self, name):
        """What the same program gives again: all of it, but where pinned memory is recorded too no order between the two."""
        snapshot = values_in(self.folder / name)
        if not snapshot.get("host_traces"):
            return self.recorded(name)
        for trace in (*snapshot["device_traces"], snapshot["host_traces"]):
            for entry in trace:
                del entry["time_us"]
        return snapshot

    def check_ranks(self, program, settings):
        printed = self.record("-m", "torch.distributed.run", "--nproc-per-node", "4", program,
                              output="r{rank}.pickle", settings=settings)
        self.assertEqual(printed.count("done\n"), 4, printed)
        names = [f"r{rank}.pickle" for rank in range(4)]
        self.assertEqual(sorted(path.name for path in self.folder.glob("r*.pickle")), names)
        self.assert_exact(*names)
        self.memreplay("ranks", *names)
        self.assert_understood(names[0])

    def assert_understood(self, name):
        self.assertIn("Live memory", self.memreplay("explain", name))
        self.memreplay("tune", name, "--runs", "20")
        self.memreplay("report", name, "-o", "page.html", "--runs", "20")
        self.assertGreater(len(self.recorded("page.html")), 10_000)


def add_tests_of_programs():
    for program in sorted((HERE / "programs").glob("*.py")):
        for settings in SETTINGS:
            def test(self, program=program, settings=settings):
                self.check_program(program, settings)
            setattr(Programs, f"test_{program.stem}_{settings.partition(':')[0] or 'default'}", test)


class Cards(WithTorch):
    def test_every_card_runs_what_depends_on_its_architecture(self):
        cards = json.loads(self.memreplay("list", "cards", "--json"))["cards"]
        self.assertGreater(len(cards), 20)
        for card in cards:
            with self.subTest(card=card["card"]):
                self.assertIn("done\n", self.record(HERE / "programs/operations.py", card=card["card"]))

    def test_the_thread_of_a_backward_pass_has_a_workspace_of_its_own(self):
        printed = self.record(HERE / "small_programs/workspaces.py")
        if "torch 2.1" not in printed:  # newer ones ask for one at each call
            self.assertIn("workspaces 2\n", printed)


class Requests(WithTorch):
    def test_each_request_of_a_step_can_be_refused(self):
        printed = self.record(HERE / "small_programs/forked.py", HERE / "small_programs/small_step.py",
                              output="r{rank}.pickle")
        ends = re.findall(r"^(\d+) (\w+)\ndone$", printed, re.MULTILINE)
        requests = int(ends[-1][0]) - 1
        self.assertGreater(requests, 10)
        expected = [(str(number), "handled") for number in range(1, requests + 1) for _ in range(2)]
        self.assertEqual(ends, [*expected, (str(requests + 1), "served")])
        for number in range(1, requests + 1):
            self.assertEqual(self.recorded(f"r{2 * number}.pickle"), self.recorded(f"r{2 * number + 1}.pickle"), number)

    def test_a_refused_request_is_told(self):
        printed = [self.record(HERE / "small_programs/small_step.py", output=name, options=["--oom-at", "5"])
                   for name in ("first.pickle", "second.pickle")]
        self.assertIn("handled\ndone\n", printed[0])
        self.assertIn("Refused on request: request 5 (", printed[0])
        self.assertEqual(self.recorded("first.pickle"), self.recorded("second.pickle"))
        self.assert_exact("first.pickle")

    def test_requests_are_refused_by_size_and_by_chance(self):
        program = HERE / "small_programs/small_step.py"
        self.assertIn("Refused on request: ", self.record(program, options=["--oom-size", "16000"], status=1))
        self.assertIn("Refused on request: requests ", self.record(program, options=["--oom-random", "3:1"], status=1))
        self.assertIn("No request was refused: the program made", self.record(program, options=["--oom-at", "99999"]))

    def test_a_value_that_is_read_is_told_with_its_place(self):
        program = HERE / "small_programs/reads_values.py"
        printed = self.record(program, options=["--json=facts.json"])
        self.assertTrue(printed.startswith("0.0\n0.0\n0.0\ndone\n"), printed)
        self.assertIn("The program looked 3 times at values that were never computed, and got zeros:", printed)
        place = json.loads(self.recorded("facts.json"))["processes"][0]["virtual_gpu"]["read_at"]
        self.assertEqual(place, [{"file": str(program), "line": 6, "function": "looked_at", "times": 3}])

    def test_values_can_be_none_or_any(self):
        program = HERE / "small_programs/reads_values.py"
        self.assertTrue(self.record(program, options=["--fill", "nan"]).startswith("nan\nnan\nnan\n"))
        seeds = [self.record(program, options=["--fill", "random", "--seed", seed]).splitlines()[:3] for seed in "334"]
        self.assertEqual(seeds[0], seeds[1])
        self.assertNotEqual(seeds[0], seeds[2])

    def test_eight_large_devices_fill_up(self):
        printed = self.record(HERE / "small_programs/full_devices.py", card="h200:count=8")
        self.assertIn("parts 104 on 8\n", printed)
        self.assert_exact("run.pickle")

    def test_stacks_and_entries_are_those_that_were_asked_for(self):
        program = HERE / "programs/language_model.py"
        self.record(program, options=["--stacks", "none"])
        self.record(program, output="python.pickle")
        self.record(program, output="few.pickle", options=["--max-entries", "100"])
        self.assertGreater(len(self.recorded("python.pickle")), len(self.recorded("run.pickle")))
        self.assertIn("100", self.memreplay("info", "few.pickle"))

    def test_a_step_ends_the_recording(self):
        printed = self.record(HERE / "programs/language_model.py", options=["--at-step", "2"])
        self.assertIn("done\n", printed)
        self.assert_exact("run.pickle")


class Pinned(WithTorch):
    """PyTorch keeps a history of pinned memory since 2.14."""

    def setUp(self):
        super().setUp()
        if self.version() < (2, 14):
            self.skipTest("torch before 2.14")

    def test_memory_of_a_program_that_only_pins_is_recorded(self):
        printed = self.record(HERE / "small_programs/pinned.py")
        self.assertIn("run.pickle: the program allocated nothing on a device. It has 8 events of pinned host memory",
                      " ".join(printed.split()))
        self.assertRegex(self.memreplay("explain", "--gpu", "host", "run.pickle"), r"pinned.py:6 <module> +256 MiB")
        self.memreplay("verify", "--gpu", "host", "run.pickle")
        self.assertIn("but pinned host memory (--gpu host)", self.run_here(PROGRAM, "explain", "run.pickle").stderr)

    def test_memory_is_recorded_beside_that_of_the_device(self):
        printed = self.record(HERE / "small_programs/pinned.py", "used", "own")
        self.assertIn("own dump: 6\n", printed)
        self.record(HERE / "small_programs/pinned.py", "used", "own", output="again.pickle")
        self.assertTrue(self.recorded("again.pickle") == self.recorded("run.pickle"), "recorded twice")
        self.assert_exact("run.pickle")
        self.assertIn("256 MiB", self.memreplay("explain", "--gpu", "host", "run.pickle"))


class Processes(WithTorch):
    def test_are_recorded_whatever_their_environment_is(self):
        printed = self.record(HERE / "small_programs/children.py")
        self.assertIn("inherits: 0, its own path: 0, no path: 0, few variables: 0, none: 0, -I: 0, -E: 0, spawn: 0, "
                      "forkserver: 0\n", printed)
        self.assertEqual(len(list(self.folder.glob("run-*.pickle"))), 10)

    def test_that_compile_for_torch_start(self):
        if self.version() < (2, 15):
            self.skipTest("other workers")
        printed = self.record(HERE / "small_programs/compiled.py", environment={"TORCHINDUCTOR_COMPILE_THREADS": "2"})
        self.assertIn("in a worker: True\ncomputed: True\n", printed)

    def test_have_one_card_together(self):
        printed = self.record(HERE / "small_programs/shared_card.py", card="t4:memory=10GiB,context=512MiB")
        for line in ("forked: 9.50", "parent: 5.50", "subprocess: 5.00", "beside spawned: 2.00",
                     "00 GiB of which 2.00 GiB is free", "this process has 4.50 GiB memory in use",
                     "Process SPAWNED has 3.50 GiB memory in use", "at the end: 2.50"):
            self.assertIn(line + "\n", printed)

    def test_of_ranks_map_each_others_memory(self):
        if self.version() < (2, 15):
            self.skipTest("other names")
        printed = self.record("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                              HERE / "small_programs/symmetric_memory.py", output="r{rank}.pickle", card="h100-80gb:count=2")
        for rank in range(2):
            self.assertIn(f"rank {rank} of 2: 16777216 of the other's", printed)

    def test_of_ranks_have_the_cards_that_there_are(self):
        for count, found in (("", "4 cards: 8.5"), (",count=2", "2 cards: 7.0"), (",count=1", "1 cards: 4.0")):
            printed = self.record("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4",
                                  HERE / "small_programs/ranks_on_cards.py", output="r{rank}.pickle",
                                  card="t4:memory=10GiB,context=512MiB" + count)
            self.assertIn(f"free of {found}\n", printed)


def why_not():
    """Why nothing can be checked here; empty: all can."""
    if not PYTHON:
        return "MEMREPLAY_TORCH names no interpreter with torch (tools/test_torch makes one)"
    version = subprocess.run([PYTHON, "-c", BUILT_FOR], capture_output=True, text=True, check=False).stdout
    return "" if re.search(r"^cuda\b.*=\s*['\"]", version, re.MULTILINE) else f"{PYTHON} has no torch with CUDA"


if __name__ == "__main__":
    if why_not():
        print(f"skipped: {why_not()}")
        sys.exit()
    CACHE = tempfile.TemporaryDirectory()
    add_tests_of_programs()
    unittest.main()
