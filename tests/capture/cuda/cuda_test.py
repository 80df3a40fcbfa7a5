"""A program's own calls of CUDA under the recorder, on fakes of NVIDIA's libraries: linked, loaded for a part, by name."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

GRANULE = 2 << 20
# What gpu_calls does: operation, size, stream, pool.
OF_THE_RUNTIME = ["a 1000 0 0:0", "a 2000 0 0:0", "f 1000 0 0:0", f"o {1 << 45} 0 0:0", "a 3000 1 0:1", "f 3000 2 0:1",
                  "a 3500 0 1:1", "f 3500 0 1:1", "a 4000 0 0:2", "f 4000 0 0:2", "a 5120 0 0:0", "f 5120 0 0:0"]
OF_THE_DRIVER = ["a 8000 0 0:0", "f 8000 0 0:0", f"a {GRANULE} 0 0:3", "a 8500 0 0:0", f"f {GRANULE} 0 0:3"]
BY_NAME = ["a 9000 0 0:0", "a 9100 0 0:1", "a 9200 0 0:1"]
OF_THE_HOST = ["a 6000 0 0:0", "f 6000 0 0:0", "a 6500 0 0:0"]
OF_THE_SECOND = ["a 7000 0 0:0", "f 7000 0 0:0"]
MADE = {}


class Recorded(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def recorded(self, *command, preload=("recorder",)):
        spools = self.folder / "spools"
        spools.mkdir(exist_ok=True)
        environment = {**os.environ, "LD_PRELOAD": " ".join(MADE[name] for name in preload), "MEMREPLAY_SPOOL": str(spools)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        told = subprocess.run([MADE["spooled"], spools, self.folder], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in told.splitlines()]

    def check_all(self, process):
        self.assertEqual(process["traces"], {"-1": OF_THE_HOST, "0": OF_THE_RUNTIME + OF_THE_DRIVER + BY_NAME, "1": OF_THE_SECOND})
        self.assertEqual((process["refused"], process["unknown_frees"], process["missing"]), (1, 0, 0))

    def test_a_program_that_is_linked_with_the_libraries(self):
        process, = self.recorded(MADE["calls"])
        self.check_all(process)

    def test_a_part_that_a_program_loads_for_itself(self):
        process, = self.recorded(MADE["loader"], MADE["part"])
        self.check_all(process)

    def test_functions_found_by_dlsym(self):
        environment = pathlib.Path(MADE["calls"]).parents[2] / "fake_cuda"
        process, = self.recorded("env", f"LD_LIBRARY_PATH={environment}", MADE["loader"])
        self.assertEqual(process["traces"], {"0": ["a 9300 0 0:0"]})

    def test_together_with_the_recorder_of_malloc_in_either_order(self):
        for order in (("recorder", "malloc"), ("malloc", "recorder")):
            with self.subTest(order), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                processes = self.recorded(MADE["calls"], preload=order)
                kinds = {process["recorder"]: process for process in processes}
                self.check_all(kinds["cuda"])
                self.assertGreater(kinds["malloc"]["allocations"], 2)

    def test_a_program_without_cuda_is_left_alone(self):
        self.assertEqual(self.recorded("true"), [])

    def test_the_recording_is_replayed(self):
        process, = self.recorded(MADE["calls"])
        recording = self.folder / f"{process['process']}.cuda.mrt"
        told = subprocess.run([MADE["memreplay"], "replay", recording, "-s", "direct", "-s", "cuda-async", "--json", "-q"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(len(json.loads(told.stdout)["results"]), 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("recorder", "malloc", "spooled", "calls", "loader", "part", "memreplay"):
        parser.add_argument(f"--{name}", type=os.path.abspath, required=True)
    MADE = vars(parser.parse_args())
    unittest.main(argv=["cuda_test"])
