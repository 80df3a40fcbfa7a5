"""Real programs under the recorder: no event is lost, the order is that of the calls, every end of a process is survived.

Usage: malloc_test.py MEMREPLAY RECORDER SPOOLED ALLOCATING OPERATORS
"""
import collections
import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SIZE = 1009  # what `allocating` asks for, and nothing else does
MEMREPLAY = RECORDER = SPOOLED = ALLOCATING = OPERATORS = ""


class Recorded(unittest.TestCase):
    ORDER = {}

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.spools = self.folder / "spools"
        self.spools.mkdir()

    def run_it(self, *command, behind="", **options):
        environment = {**os.environ, **self.ORDER, "LD_PRELOAD": f"{RECORDER} {behind}", "MEMREPLAY_SPOOL": str(self.spools)}
        return subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False,
                              cwd=self.folder, **options)

    def processes(self, *expected_losses):
        """What the spools say; their order has been proved to be that of the calls."""
        told = subprocess.run([SPOOLED, self.spools, self.folder], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        found = [json.loads(line) for line in told.stdout.splitlines()]
        for process in found:
            for loss in ("overlaps", "missing", "unknown_frees", "stopped_by", "unrecorded_forks", "given_again"):
                self.assertEqual(bool(process[loss]), loss in expected_losses, process)
        return found

    def rows(self, process):
        """The recording as CSV."""
        recording = self.folder / f"{process['process']}.malloc.mrt"
        text = subprocess.run([MEMREPLAY, "convert", recording, "-"], capture_output=True, text=True, check=True).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def of_size(self, process, size=SIZE):
        return sum(row["op"] == "a" and row["size"] == str(size) for row in self.rows(process))

    def allocating(self, what, status=0, losses=()):
        self.assertEqual(self.run_it(ALLOCATING, what).returncode, status)
        return self.processes(*losses)

    def info(self, process):
        recording = self.folder / f"{process['process']}.malloc.mrt"
        return subprocess.run([MEMREPLAY, "info", recording], capture_output=True, text=True, check=True).stdout


class Programs(Recorded):
    def test_every_block_handed_between_threads_is_there(self):
        process, = self.allocating("threads")
        self.assertEqual(self.of_size(process), 4 * 20_000)
        self.assertEqual(self.of_size(process, SIZE + 1), 4 * 6_667)
        self.assertEqual(process["allocations"] - process["frees"], process["live_blocks"])
        rows = self.rows(process)
        self.assertGreaterEqual(len({row["thread"] for row in rows}), 5)

    def test_many_short_threads(self):
        process, = self.allocating("short-threads")
        self.assertEqual(self.of_size(process), 500)

    def test_every_form_of_c(self):
        process, = self.allocating("plain-forms")
        self.assertEqual(self.of_size(process), 9)
        self.assertEqual(self.of_size(process, SIZE + 1), 1)
        aligns = collections.Counter(row["align"] for row in self.rows(process) if row["size"] == str(SIZE))
        self.assertEqual(aligns, {"": 4, "64": 1, "128": 1, "256": 1, "4096": 2})

    def test_every_form_of_cpp(self):
        process, = self.allocating("operators")
        self.assertEqual(self.of_size(process), 5)
        self.assertEqual(self.of_size(process, 1024), 3)  # libstdc++ asks for multiples of the alignment
        self.assertEqual(process["live_blocks"], process["allocations"] - 8)

    def test_operators_of_an_allocator_preloaded_behind(self):
        self.assertEqual(self.run_it(ALLOCATING, "operators", behind=OPERATORS).returncode, 0)
        process, = self.processes()
        self.assertEqual(self.of_size(process), 8)
        self.assertEqual(process["frees"], 8)

    def test_memory_that_runs_out_is_the_program_s_own_affair(self):
        for behind in ("", OPERATORS):
            with self.subTest(behind):
                shutil.rmtree(self.spools)
                self.spools.mkdir()
                self.assertEqual(self.run_it(ALLOCATING, "bad-alloc", behind=behind).returncode, 0)
                process, = self.processes()
                self.assertGreaterEqual(process["refused"], 1)
                self.assertEqual(self.of_size(process), 7)

    def test_refused_requests_are_counted_and_their_blocks_stay(self):
        process, = self.allocating("refused")
        self.assertEqual(process["refused"], 4)
        self.assertEqual(process["live_blocks"], process["allocations"] - process["frees"])
        freed = [row["id"] for row in self.rows(process) if row["op"] == "f"]
        self.assertEqual(len(freed), process["frees"])

    def test_a_forked_process_has_a_recording_of_its_own(self):
        parent, child, grandchild = self.allocating("fork")
        self.assertEqual([one["forked"] for one in (parent, child, grandchild)], [False, True, True])
        self.assertEqual(self.of_size(parent), 110)
        self.assertGreaterEqual(child["inherited"], 10)
        self.assertEqual((child["allocations"], child["frees"]), (5, 10))
        self.assertEqual((grandchild["allocations"], grandchild["frees"]), (3, 0))
        self.assertEqual(grandchild["inherited"], child["live_blocks"])

    def test_a_forked_process_knows_what_other_threads_did_last(self):
        parent, child = self.allocating("fork-after-another")
        self.assertEqual((self.of_size(parent), child["allocations"], child["frees"]), (10, 5, 10))

    def test_more_threads_than_places(self):
        process, = self.allocating("many-threads")
        self.assertEqual(self.of_size(process), 300 * 20)

    def test_an_event_takes_few_bytes(self):
        process, = self.allocating("threads")
        spool, = self.spools.iterdir()
        self.assertLess(spool.stat().st_size, 11 * (process["allocations"] + process["frees"]))  # the file doubles

    def test_a_program_executed_by_another_has_a_recording_of_its_own(self):
        first, second = self.allocating("exec")
        self.assertEqual(first["process"], second["process"])
        self.assertEqual([first["allocations"] - second["allocations"]], [4])
        self.assertEqual([first["forked"], second["forked"]], [False, False])

    def test_nothing_is_lost_however_a_process_ends(self):
        for what, status in (("exit-at-once", 0), ("abort", -signal.SIGABRT), ("kill", -signal.SIGKILL)):
            with self.subTest(what):
                shutil.rmtree(self.spools)
                self.spools.mkdir()
                process, = self.allocating(what, status)
                self.assertEqual(self.of_size(process), 1000)

    def test_a_program_may_close_files_that_it_does_not_know(self):
        process, = self.allocating("close-all")
        self.assertEqual(self.of_size(process), 10_010)

    def test_a_recording_that_stops_says_so(self):
        for what in ("no-files", "chroot"):
            if what == "chroot" and os.geteuid() != 0:
                continue
            with self.subTest(what):
                shutil.rmtree(self.spools)
                self.spools.mkdir()
                process, = self.allocating(what, losses=("stopped_by",))
                self.assertLess(self.of_size(process), 10_010)
                self.assertIn("some events are missing", self.info(process))

    def test_a_forked_process_that_cannot_be_recorded_is_counted_in_the_other_one(self):
        process, = self.allocating("fork-without-files", losses=("unrecorded_forks",))
        self.assertEqual((process["unrecorded_forks"], self.of_size(process)), (1, 10))

    def test_a_fork_after_many_blocks_can_be_read(self):
        parent, child = self.allocating("fork-late")
        self.assertEqual((self.of_size(parent), child["allocations"]), (20_000, 3))
        self.assertIn("nothing lost", self.info(child))

    def test_without_a_folder_nothing_is_recorded(self):
        self.spools.rmdir()
        for value, said in ((str(self.spools), "cannot be made: no such folder"), ("", "")):
            environment = {**os.environ, "LD_PRELOAD": RECORDER, "MEMREPLAY_SPOOL": value}
            done = subprocess.run([ALLOCATING, "threads"], env=environment, capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr.count("\n"), bool(said))
            self.assertIn(said, done.stderr)

    def test_where_the_file_cannot_grow_the_program_goes_on(self):
        done = self.run_it("sh", "-c", f"ulimit -f 1000; exec {ALLOCATING} threads")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("memreplay: "), 1)
        self.assertIn("above the limit of a file's size; the program goes on unrecorded", done.stderr)

    def test_a_full_disk_is_said(self):
        # The last write that it has room for is a short one.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", self.spools], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no small disk can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.spools], check=True)
        done = self.run_it(ALLOCATING, "threads")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no space left on the device; the program goes on unrecorded", done.stderr)
        process, = self.processes("stopped_by")
        self.assertIn("some events are missing", self.info(process))


class CountedPrograms(Programs):
    """The same where the ticks of several processors do not agree."""
    ORDER = {"MEMREPLAY_SPOOL_ORDER": "counted"}


class Outliving(Recorded):
    """What the program leaves running when its first process has ended."""

    def record(self, script):
        done = subprocess.run([MEMREPLAY, "record", "--malloc", "-o", "r.mrt", "--", "sh", "-c", script, "sh", ALLOCATING],
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}, capture_output=True, text=True,
                              check=False, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def left(self):
        return [folder for folder in self.folder.iterdir() if folder.name.startswith(".memreplay-")]

    def recovered(self):
        """Every recording of the folder that was left, when nobody writes there any more."""
        folder, = self.left()
        (self.folder / "go").write_text("")
        for _ in range(600):
            done = subprocess.run([MEMREPLAY, "record", "--recover", folder, "-o", self.folder / "all.mrt", "--json"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0 and not json.loads(done.stdout)["running"]:
                return json.loads(done.stdout)["calls"]
            time.sleep(0.05)
        self.fail(f"{done.stdout} {done.stderr}")

    def test_one_that_is_under_way_is_said_to_be_and_can_be_had_whole(self):
        # The first process ends while the other one waits between its two halves.
        done = self.record('(until [ -e go ]; do sleep 0.05; done; "$1" threads; true) > out 2>&1 & true')
        self.assertRegex(done.stdout, r"\d+ process(es)? still runs?: ")
        self.assertIn("memreplay record --recover", done.stderr)
        info = subprocess.run([MEMREPLAY, "info", self.folder / "r.mrt"], capture_output=True, text=True, check=True).stdout
        calls = self.recovered()
        self.assertTrue(all(one["complete"] for one in calls))
        self.assertIn([ALLOCATING, "threads"], [one["command"] for one in calls])
        if "The recording ends early: its process still runs" in done.stdout:
            self.assertIn("some events are missing", info)

    def test_a_daemon_that_has_asked_for_nothing_yet_is_named_and_its_folder_stays(self):
        done = self.record('setsid sh -c "until [ -e go ]; do sleep 0.05; done; exec $1 threads" > out 2>&1 & true')
        self.assertIn("still run", done.stdout)
        self.assertIn([ALLOCATING, "threads"], [one["command"] for one in self.recovered()])

    def test_a_signal_before_all_is_written_leaves_word_of_the_folder(self):
        script = f'(sleep 3) > out 2>&1 & "{ALLOCATING}" threads; touch ended'
        with subprocess.Popen([MEMREPLAY, "record", "--malloc", "-o", "r.mrt", "--", "sh", "-c", script], cwd=self.folder,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
            while not (self.folder / "ended").exists():
                time.sleep(0.01)
            time.sleep(0.4)  # it waits a second for the one that sleeps
            recorder.terminate()
            _, said = recorder.communicate()
        self.assertEqual(recorder.returncode, -signal.SIGTERM, said)
        folder, = self.left()
        self.assertIn(f"memreplay: what was recorded stays in {folder}; memreplay record --recover {folder}", said)
        self.assertIn([ALLOCATING, "threads"], [one["command"] for one in self.recovered()])

    def test_who_ends_right_after_it_is_waited_for(self):
        done = self.record('(sleep 0.3; "$1" threads) > out 2>&1 & true')
        self.assertNotIn("still run", done.stdout + done.stderr)
        self.assertEqual(self.left(), [])
        self.assertTrue((self.folder / "r.mrt").exists())


class RealPrograms(Recorded):
    def replayed(self, process, *strategies):
        asked = [part for strategy in strategies for part in ("-s", strategy)]
        done = subprocess.run([MEMREPLAY, "replay", self.folder / f"{process['process']}.malloc.mrt", *asked, "--json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for run in json.loads(done.stdout)["runs"]:
            self.assertEqual(run["peak_requested_bytes"], process["peak_bytes"])
            self.assertEqual(run["ooms"], 0)

    def recorded(self, *command, **options):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        done = self.run_it(*command, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, self.processes()

    def test_python_is_replayed_by_allocators(self):
        done, processes = self.recorded(
            sys.executable, "-c", "import json, re; print(len(json.dumps([re.sub('a', 'b', 'a' * i) for i in range(99)])))")
        self.assertEqual(done.stdout, "5247\n")
        self.assertGreater(processes[0]["allocations"], 500)
        self.replayed(processes[0], "size-class", "tcmalloc", "buddy")

    def test_python_with_threads_and_processes(self):
        text = ("import threading, multiprocessing as m\n"
                "m.set_start_method('fork')\n"
                "work = lambda: [bytearray(i) for i in range(3000)]\n"
                "all = [threading.Thread(target=work) for _ in range(4)] + [m.Process(target=work) for _ in range(2)]\n"
                "[one.start() for one in all]; [one.join() for one in all]")
        _, processes = self.recorded(sys.executable, "-c", text)
        self.assertEqual([one["forked"] for one in processes], [False, True, True])
        self.assertGreater(processes[1]["inherited"], 100)

    def test_sqlite(self):
        done, processes = self.recorded(
            "sqlite3", ":memory:", "create table t(a); with recursive n(i) as (select 1 union all select i + 1 from n "
            "where i < 2000) insert into t select i * i from n; select sum(a) from t;")
        self.assertEqual(done.stdout, "2668667000\n")
        self.replayed(processes[0], "size-class", "tcmalloc", "buddy")

    def test_a_compiler_and_what_it_makes(self):
        source = self.folder / "program.c"
        source.write_text("#include <stdlib.h>\nint main(void) { for (int i = 0; i < 50; ++i) malloc(1009); return 0; }\n")
        _, processes = self.recorded("gcc", "-O0", source, "-o", self.folder / "program")
        self.assertGreaterEqual(len(processes), 3)  # the driver, the compiler, the assembler, the linker
        shutil.rmtree(self.spools)
        self.spools.mkdir()
        _, (process,) = self.recorded(str(self.folder / "program"))
        self.assertEqual(self.of_size(process), 50)


if __name__ == "__main__":
    MEMREPLAY, RECORDER, SPOOLED, ALLOCATING, OPERATORS = map(os.path.abspath, sys.argv[1:6])
    unittest.main(argv=sys.argv[:1])
