"""The pytest plugin, with what stands for torch."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import OOM

TESTS = """
import pytest

@pytest.mark.limit_gpu_memory("24 GiB")
def test_within(): pass

@pytest.mark.limit_gpu_memory("4GiB")
def test_over(): pass

@pytest.mark.limit_gpu_memory("4GiB")
def test_wrong_anyway(): assert False, "its own reason"

def test_snapshot(gpu_memory):
    assert gpu_memory()["device_traces"]

def test_without_a_limit(): pass
"""


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
class Plugin(unittest.TestCase):
    def outcome(self, gpu):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "test_memory.py"
            file.write_text(TESTS)
            path = [os.environ["PYTHONPATH"], str(pathlib.Path(__file__).parent / "stand_in")]
            known = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                     **({"STAND_IN_SNAPSHOT": str(OOM)} if gpu else {})}
            return subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "memreplay.pytest_plugin", "-p", "no:cacheprovider", "-rsf",
                 "--strict-markers", file], env=known, capture_output=True, text=True).stdout

    def test_over_the_limit_a_test_fails(self):
        told = self.outcome(gpu=True)
        self.assertIn("2 failed, 3 passed", told)
        self.assertIn("reserves 4789895168 bytes of GPU memory, over the limit of 4294967296", told)
        self.assertIn("its own reason", told)

    def test_without_a_gpu_it_is_skipped(self):
        told = self.outcome(gpu=False)
        self.assertIn("1 passed, 4 skipped", told)
        self.assertIn("no CUDA device", told)


if __name__ == "__main__":
    unittest.main()
