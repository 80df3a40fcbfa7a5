"""What `--perfetto` writes: its form, and that its highest values are those of the report.

Usage: perfetto_test.py MEMREPLAY
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
STRATEGIES = ["torch", "torch:expandable_segments=True", "bfc", "buddy", "direct", "gmlake", "offload(torch)"]
RECORDINGS = {
    "bfc-oom.csv": ["--capacity", "64MiB"],
    "fragmentation.csv": ["--capacity", "490MiB"],
    "pinned-steps.csv": [],
    "torch/gpt_train_oom.pickle": ["--capacity", "5226MiB"],
    "torch/seq_growth.pickle": ["--capacity", "4000MiB"],
    "torch/side_streams.pickle": [],
    "torch/warm_ring.pickle": [],
    "torch/layers_4.pickle": ["--from", "100", "--to", "300"],
}
REQUIRED = {
    "M": {"name", "pid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "i": {"name", "pid", "tid", "ts", "s", "args"},
    "b": {"name", "cat", "id", "pid", "tid", "ts", "args"},
    "e": {"name", "cat", "id", "pid", "tid", "ts"},
}


def written(options):
    """The file and the report of one command."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "trace.json"
        run = subprocess.run([PROGRAM, *options, "--json", f"--perfetto={target}"], cwd=TRACES, text=True,
                             capture_output=True, check=True)
        return json.loads(target.read_text(encoding="utf-8")), json.loads(run.stdout)


def numbers(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner)
    elif isinstance(value, (int, float)):
        yield value


def processes(trace):
    """The events of each process by its name."""
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
    return {name: [e for e in trace["traceEvents"] if e["pid"] == pid] for pid, name in names.items()}


def counters(events, name):
    return [e["args"] for e in events if e["ph"] == "C" and e["name"] == name]


class Perfetto(unittest.TestCase):
    def check_form(self, trace):
        last, open_slices = {}, set()
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], REQUIRED)
            self.assertLessEqual(REQUIRED[event["ph"]], event.keys())
            for number in numbers(event):
                self.assertLess(abs(number), 2**53)
            if event["ph"] == "M":
                continue
            slice_of = (event["pid"], event.get("cat"), event.get("id"))
            track = (event["pid"], event["name"]) if "id" not in event else slice_of
            self.assertGreaterEqual(event["ts"], last.get(track, event["ts"]))
            last[track] = event["ts"]
            if event["ph"] == "b":
                self.assertNotIn(slice_of, open_slices)
                open_slices.add(slice_of)
            elif event["ph"] == "e":
                open_slices.remove(slice_of)
        self.assertEqual(open_slices, set())

    def check_peaks(self, trace, report, points):
        for run in report["runs"]:
            events = processes(trace)[run["strategy"]]
            memory = counters(events, "memory")
            self.assertEqual(max(m["allocated"] for m in memory), run["peak_allocated_bytes"])
            self.assertEqual(max(m["allocated"] + m["cached"] for m in memory), run["peak_reserved_bytes"])
            self.assertEqual(memory[-1]["allocated"], run["end_allocated_bytes"])
            self.assertEqual(memory[-1]["allocated"] + memory[-1]["cached"], run["end_reserved_bytes"])
            self.assertLessEqual(len(memory), 2 * points)
            self.assertTrue(all(0 <= f["external"] <= 1 for f in counters(events, "fragmentation")))
            instants = [e for e in events if e["ph"] == "i"]
            for name, key in (("OOM", "ooms"), ("retry", "oom_retries")):
                count = sum(e["args"]["count"] for e in instants if e["name"] == name)
                self.assertEqual(count, run[key] if run[key] <= points else max(count, points))
            first = next((e["args"] for e in instants if e["name"] == "OOM"), None)
            if first and "size" in first:
                oom = run["first_oom"]
                self.assertEqual([first["seq"], first["size"], first["free"], first["largest"]],
                                 [oom["event"], oom["requested_bytes"], oom["free_bytes"], oom["largest_free_bytes"]])

    def test_the_form_is_right_and_the_peaks_are_the_reports(self):
        for recording, options in RECORDINGS.items():
            for points in (20_000, 16):
                with self.subTest(recording=recording, points=points):
                    named = [option for s in STRATEGIES for option in ("-s", s)]
                    trace, report = written(["replay", recording, *options, *named, f"--points={points}"])
                    self.check_form(trace)
                    self.check_peaks(trace, report, points)

    def test_segments_together_are_what_is_reserved(self):
        for recording in ("torch/seq_growth.pickle", "torch/expandable.pickle", "torch/side_streams.pickle"):
            with self.subTest(recording=recording):
                trace, report = written(["replay", recording, "-s", "torch", "-s", "torch:expandable_segments=True"])
                for run in report["runs"]:
                    events = [e for e in processes(trace)[run["strategy"]] if e.get("cat") == "segment"]
                    end = max(e["ts"] for e in events if e["ph"] == "e")
                    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "e"}
                    left = sum(e["args"]["bytes"] for e in events if e["ph"] == "b" and ends[e["id"]] == end)
                    self.assertEqual(left, run["end_reserved_bytes"])

    def test_times_are_as_recorded_where_all_recordings_have_them(self):
        trace, _ = written(["replay", "torch/seq_growth.pickle", "-s", "torch"])
        self.assertEqual(trace["otherData"]["ts"], "recorded time in us")
        trace, _ = written(["replay", "torch/seq_growth.pickle", "fragmentation.csv", "-s", "torch"])
        self.assertEqual(trace["otherData"]["ts"], "number of the event")

    def test_phases_of_the_program_are_slices(self):
        trace, _ = written(["replay", "torch/layers_4.pickle", "-s", "torch"])
        names = {e["name"] for e in processes(trace)["phases"] if e["ph"] == "b"}
        self.assertTrue(names)

    def test_a_name_with_quotes_is_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            odd = pathlib.Path(folder) / 'a "b" \\ c.csv'
            odd.write_bytes((TRACES / "fragmentation.csv").read_bytes())
            trace, _ = written(["replay", str(odd), "fragmentation.csv", "-s", "torch"])
            self.assertIn(f"{odd} gpu 0: torch", processes(trace))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
