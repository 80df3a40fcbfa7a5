"""The pytest plugin, with what stands for torch."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import OOM, PROGRAM

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
MARKS = """
import pytest

@pytest.mark.limit_gpu_memory(size="24 GB")
def test_by_name(): pass

@pytest.mark.limit_gpu_memory()
def test_of_nothing(): pass

@pytest.mark.limit_gpu_memory("much")
def test_of_no_size(): pass

@pytest.mark.limit_gpu_memory(most="4GiB")
def test_of_another_name(): pass
"""


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
class Plugin(unittest.TestCase):
    def outcome(self, gpu, tests=TESTS):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "test_memory.py"
            file.write_text(tests)
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

    def test_a_mark_without_a_size_is_refused_in_a_line(self):
        told = self.outcome(gpu=True, tests=MARKS)
        self.assertIn("1 passed, 3 errors", told)
        for given in ("", "'much'", "most='4GiB'"):
            self.assertIn(f"limit_gpu_memory({given}): expected a size such as '24 GB'", told)
        self.assertNotIn("pytest_plugin.py:", told)

    def test_without_a_gpu_it_is_skipped(self):
        told = self.outcome(gpu=False)
        self.assertIn("1 passed, 4 skipped", told)
        self.assertIn("no CUDA device", told)


VIRTUAL = """
import pytest, torch

@pytest.mark.limit_gpu_memory("24 GB")
def test_within(): torch.zeros(1 << 28, device="cuda")

@pytest.mark.limit_gpu_memory("100 MB")
def test_over(): torch.zeros(1 << 28, device="cuda")
"""
TORCH = os.environ.get("MEMREPLAY_TORCH", "")


def has_all():
    return TORCH and subprocess.run([TORCH, "-c", "import pytest, memreplay"], capture_output=True).returncode == 0


@unittest.skipUnless(has_all(), "MEMREPLAY_TORCH names no interpreter with torch, pytest and this module")
class OnAVirtualGpu(unittest.TestCase):
    def test_tests_run_where_there_is_no_card(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "test_memory.py"
            file.write_text(VIRTUAL)
            (pathlib.Path(folder) / "pytest.ini").write_text("[pytest]\nvirtual_gpu = a100-40g\n")
            known = {**os.environ, "PATH": f"{pathlib.Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}",
                     "XDG_CACHE_HOME": folder, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            told = subprocess.run([TORCH, "-m", "pytest", "-p", "memreplay.pytest_plugin", "-p", "no:cacheprovider",
                                   file], cwd=folder, env=known, capture_output=True, text=True).stdout
        self.assertIn("1 failed, 1 passed", told)
        self.assertIn("reserves 1073741824 bytes of GPU memory, over the limit of 104857600", told)


if __name__ == "__main__":
    unittest.main()
