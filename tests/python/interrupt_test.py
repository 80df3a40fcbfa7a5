"""Ctrl-C ends a long question with KeyboardInterrupt, and the next one works."""
import os
import signal
import tempfile
import threading
import time
import unittest

import memreplay
from support import OOM


class Interrupted(unittest.TestCase):
    def test_a_long_tune_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/long.mrt"
            memreplay.generate("random", trace, events=3_000_000, live=5000)
            ctrl_c = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
            began = time.monotonic()
            ctrl_c.start()
            with self.assertRaises(KeyboardInterrupt):
                memreplay.tune(trace, runs=100_000)
            self.assertGreater(time.monotonic() - began, 0.4)
        self.assertEqual(memreplay.explain(OOM).verdict, "fragmentation")

    def test_a_long_workload_ends_and_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
            with self.assertRaises(KeyboardInterrupt):
                memreplay.generate("random", f"{folder}/long.mrt", events=300_000_000)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
