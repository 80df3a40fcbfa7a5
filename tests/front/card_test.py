"""What the front is for, asked of a program that may have nothing else: card_test.py PROGRAM TRACES [EXTENSION-LEFT-OUT...]"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TRACES = sys.argv[1], pathlib.Path(sys.argv[2])
LEFT_OUT = sys.argv[3:]
OOM = TRACES / "torch/gpt_train_oom.pickle"
CSV = TRACES / "fragmentation.csv"


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: exit {done.returncode}, not {status}: {done.stderr}")
    return done


def answer(*arguments, status=0):
    return json.loads(run(*arguments, "--json", "-q", status=status).stdout)


class Card(unittest.TestCase):
    def test_a_snapshot_is_read_and_verified(self):
        self.assertEqual(answer("info", OOM)["trace"]["format"], "torch-snapshot")
        self.assertIn("220 of 220 placements", run("verify", OOM).stdout)

    def test_strategies_are_replayed_in_simulation_and_on_the_host(self):
        for strategy in ("torch", "bfc", "buddy", "free-list", "bump", "direct"):
            for device in ("sim", "host"):
                with self.subTest(strategy=strategy, device=device):
                    metrics = answer("replay", CSV, "-s", strategy, "--device", device)["runs"][0]
                    self.assertGreaterEqual(metrics["peak_reserved_bytes"], metrics["peak_allocated_bytes"])
                    self.assertEqual(metrics["gap_bytes"],
                                     metrics["peak_reserved_bytes"] - metrics["peak_allocated_bytes"])
                    self.assertGreater(metrics["timing"]["replay_seconds"], 0)

    def test_a_small_device_has_ooms_and_retries(self):
        metrics = answer("replay", CSV, "-s", "torch", "--capacity", "350MiB")["runs"][0]
        self.assertGreater(metrics["ooms"], 0)
        self.assertGreater(metrics["oom_retries"], 0)

    def test_strategies_are_ranked(self):
        runs = answer("compare", CSV, "-s", "torch", "-s", "bfc", "-s", "buddy")["runs"]
        self.assertEqual(sorted(run["place"] for run in runs), [1, 2, 3])
        self.assertGreater(len(answer("compare", CSV)["runs"]), 3)

    def test_an_oom_is_explained_tuned_and_fitted(self):
        self.assertEqual(answer("explain", OOM)["cause"], "fragmentation")
        self.assertIn("expandable_segments:True", run("tune", OOM).stdout)
        self.assertIn("MiB", run("fit", OOM).stdout)

    def test_a_gate_passes_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            baseline = os.path.join(folder, "memory.json")
            run("check", CSV, "--baseline", baseline, "--update", "-s", "torch")
            run("check", CSV, "--baseline", baseline)
            run("check", CSV, "--baseline", baseline, "--limit", "peak_reserved_bytes=1MiB", status=1)

    def test_recordings_are_converted(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.mrt", "a.json", "a.csv"):
                run("convert", CSV, os.path.join(folder, name), *(["-s", "torch"] if name == "a.json" else []))
                self.assertEqual(answer("info", os.path.join(folder, name))["trace"]["allocs"],
                                 answer("info", CSV)["trace"]["allocs"])

    def test_what_is_left_out_is_said(self):
        asked = {"ranks": ["ranks", TRACES], "what_if": ["replay", CSV, "--edit", "drop:size>=1"],
                 "rmm": ["replay", CSV, "-s", "rmm-pool"], "kineto": ["info", CSV, "--format", "torch-timeline"],
                 "planner": ["plan", CSV], "record": ["record", "true"],
                 "minimise": ["convert", CSV, "-", "--to", "csv", "-s", "torch", "--minimise"]}
        for extension in asked.keys() & set(LEFT_OUT):
            with self.subTest(extension=extension):
                said = run(*asked[extension], status=2).stderr
                self.assertIn(f"the extension {extension}", said)
                self.assertIn("MEMREPLAY_EXTENSIONS", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
