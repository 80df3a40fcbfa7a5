"""The program on the stand-in for the CUDA driver: what it prints, leaves behind and gives back.

Usage: stand_in_test.py PROGRAM FOLDER     (FOLDER: where the stand-in's libcuda.so.1 lies)
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = str(ROOT / "traces" / "torch" / "side_streams.pickle")
PROGRAM = FOLDER = ""
MIB = 1 << 20
OUT_OF_MEMORY, UNKNOWN = 2, 999  # CUresult


class StandIn(unittest.TestCase):
    CALLS_AT_THE_END = 2000  # to give back what is held, where a failure is not heard

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = self.folder / "report"

    def start(self, *arguments, **stand_in):
        settings = {f"STAND_IN_{key.upper()}": str(value) for key, value in stand_in.items()}
        # Sanitizers bring a library that LD_LIBRARY_PATH must not hide.
        known = os.environ.get("LD_LIBRARY_PATH")
        environment = {**os.environ, **settings, "STAND_IN_REPORT": str(self.report),
                       "LD_LIBRARY_PATH": FOLDER + (f":{known}" if known else "")}
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process):
        """Status, standard output and error; nothing may be left on the device."""
        stdout, stderr = process.communicate(timeout=100)
        report = self.report.read_text(encoding="utf-8")
        self.assertTrue(report.startswith("leaks 0\nmisuse 0\n"), report)
        return process.returncode, stdout, stderr

    def run_program(self, *arguments, **stand_in):
        return self.finish(self.start(*arguments, **stand_in))

    def replay(self, *arguments, **stand_in):
        return self.run_program("replay", TRACE, "-s", "torch", "--device", "cuda:0", "--touch",
                                "edges", *arguments, **stand_in)

    def calls(self):
        return int(self.report.read_text(encoding="utf-8").splitlines()[2].split()[1])

    def test_a_replay_holds_what_was_recorded(self):
        status, stdout, stderr = self.run_program("replay", TRACE, "-s", "torch", "--device", "cuda:0",
                                                  "--touch", "all", "--json")
        self.assertEqual((status, stderr), (0, ""))
        result = json.loads(stdout)
        self.assertEqual(result["device"]["kind"], "cuda")
        run = result["runs"][0]
        self.assertEqual(run["peak_reserved_bytes"], result["trace"]["recorded"]["peak_reserved_bytes"])
        self.assertEqual(run["ooms"], 0)

    def test_whichever_call_fails_it_is_named_and_no_file_is_left(self):
        self.replay()
        calls = self.calls()
        self.assertGreater(calls, 5000)
        for n in [*range(1, 100, 7), 60, *range(100, calls - self.CALLS_AT_THE_END, calls // 12)]:
            with self.subTest(call=n):
                status, stdout, stderr = self.replay("--json=found.json", fail_call=n, fail_with=UNKNOWN)
                self.assertEqual((status, stdout), (2, ""))
                self.assertRegex(stderr, r"^memreplay: cuda:0: cu[A-Z]\w+: CUDA_ERROR_UNKNOWN ")
                self.assertEqual([path.name for path in self.folder.iterdir()], ["report"])

    def test_a_refused_allocation_is_a_result(self):
        served_later = 0
        for n in range(25, 200):
            status, stdout, stderr = self.replay("--json", fail_call=n, fail_with=OUT_OF_MEMORY)
            if status == 0:
                self.assertEqual(stderr, "")
                run = json.loads(stdout)["runs"][0]
                self.assertGreater(run["ooms"] + run["oom_retries"], 0)
                served_later += 1
                if served_later == 2:
                    return
            else:
                self.assertRegex(stderr, r"^memreplay: cuda:0: cu\w+: CUDA_ERROR_OUT_OF_MEMORY ")
        self.fail("no refusal was met")

    def test_on_too_small_a_device_ooms_are_counted(self):
        status, stdout, _ = self.replay("--json", capacity=8 * MIB)
        self.assertEqual(status, 0)
        self.assertGreater(json.loads(stdout)["runs"][0]["ooms"], 100)

    def test_ctrl_c_ends_it_and_what_was_found_so_far_is_printed(self):
        process = self.start("replay", TRACE, "-s", "torch", "--device", "cuda:0", "--json",
                             latency_us=2000)
        time.sleep(1)  # of about ten seconds
        process.send_signal(signal.SIGINT)
        status, stdout, _ = self.finish(process)
        self.assertEqual(status, 130)
        run = json.loads(stdout)["runs"][0]
        self.assertFalse(run["finished"])

    def test_a_gpu_that_is_not_there_is_said_to_be_missing(self):
        status, stdout, stderr = self.run_program("replay", TRACE, "--device", "cuda:7")
        self.assertEqual((status, stdout), (2, ""))
        self.assertEqual(stderr, "memreplay: cuda:7: there is one GPU, cuda:0\n")

    def test_compared_with_the_simulation_the_bytes_agree(self):
        for strategy in ["torch", "torch:expandable_segments=True", "bfc"]:
            status, stdout, stderr = self.run_program("compare", TRACE, "-s", strategy, "--device", "sim",
                                                      "--device", "cuda:0")
            self.assertEqual((status, stderr), (0, ""))
            self.assertIn(f"{strategy}: sim and cuda:0 hold the same bytes after each of 2,010 events.",
                          " ".join(stdout.split()))


if __name__ == "__main__":
    PROGRAM, FOLDER = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
