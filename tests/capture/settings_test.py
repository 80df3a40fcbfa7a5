"""What a program passes to PyTorch's allocator on its way is noted in the history, where it was passed."""
import contextlib
import io
import os
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps/capture/python"))
import memreplay_recorder  # noqa: E402

EARLY, LATE = 1, 4_000_000_000_000_000  # microseconds, before and after any call of this test


def entry(when):
    return {"action": "alloc", "addr": 512, "size": 512, "stream": 0, "time_us": when, "pool_id": (0, 0)}


class Settings(unittest.TestCase):
    def setUp(self):
        self.passed = []
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:64"
        self.addCleanup(os.environ.pop, "PYTORCH_CUDA_ALLOC_CONF")
        self.torch = types.SimpleNamespace(_C=types.SimpleNamespace(_accelerator_setAllocatorSettings=self.set))
        self.recorder = memreplay_recorder.Recorder("unused")
        self.recorder.torch = self.torch
        self.recorder._watch_settings()

    def set(self, conf):
        if conf == "wrong":
            raise ValueError(conf)
        self.passed.append(conf)

    def marked(self, without=()):
        snapshot = {"device_traces": [[entry(EARLY), entry(LATE)], []]}
        for each in snapshot["device_traces"][0]:
            for key in without:
                del each[key]
        self.recorder._mark_settings(snapshot)
        return [entry.get("user_metadata", entry["action"]) for entry in snapshot["device_traces"][0]]

    def test_a_program_that_passes_nothing_has_no_marker(self):
        self.assertEqual(self.marked(), ["alloc", "alloc"])

    def test_each_call_stands_before_what_came_after_it_and_the_first_settings_before_all(self):
        self.torch._C._accelerator_setAllocatorSettings("max_split_size_mb:30")
        self.torch._C._accelerator_setAllocatorSettings("")
        self.assertEqual(self.passed, ["max_split_size_mb:30", ""])
        self.assertEqual(self.marked(), ["PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64", "alloc",
                                         "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:30", "PYTORCH_CUDA_ALLOC_CONF=",
                                         "alloc"])

    def test_a_history_without_times_gets_no_marker_and_that_is_said(self):
        self.torch._C._accelerator_setAllocatorSettings("max_split_size_mb:30")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(self.marked(without=["time_us"]), ["alloc", "alloc"])
        self.assertIn("records no times", said.getvalue())

    def test_what_pytorch_refuses_is_not_noted(self):
        with self.assertRaises(ValueError):
            self.torch._C._accelerator_setAllocatorSettings("wrong")
        self.assertEqual(self.marked(), ["alloc", "alloc"])


if __name__ == "__main__":
    unittest.main()
