"""Snapshots that `convert` writes, read by Python itself, by PyTorch's own script and as its page reads them.

Usage: snapshot_test.py PROGRAM
"""
import bisect
import importlib.util
import json
import pathlib
import pickle
import pickletools
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from values import values_in  # noqa: E402

BUNDLED = sorted((ROOT / "traces" / "torch").glob("*.pickle"))
CORPUS = ROOT.parent / "shared" / "corpus" / "torch"
PROGRAM = ""

# What the unpickler of PyTorch's page reads (torch/utils/viz/MemoryViz.js).
PAGE_OPCODES = set(
    "APPEND APPENDS BINFLOAT BINGET BININT BININT1 BININT2 BINPUT BINUNICODE DICT EMPTY_DICT EMPTY_LIST "
    "EMPTY_TUPLE FRAME LIST LONG1 LONG_BINGET LONG_BINPUT MARK MEMOIZE NEWFALSE NEWTRUE NONE PROTO SETITEM "
    "SETITEMS SHORT_BINUNICODE STOP TUPLE TUPLE1 TUPLE2 TUPLE3".split())
# What a snapshot says in words of its own.
FIXED = set(
    "alloc free_requested free_completed segment_alloc segment_free segment_map segment_unmap snapshot oom "
    "annotate active_allocated active_pending_free inactive small large START END N/A".split()) | {""}


def texts_of(value):
    """Every text that is no key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_of(item)


class PageMemory:
    """Segments and blocks of one device, walked back from the end as the page does to draw an entry."""

    def __init__(self, snapshot, device):
        own = [segment for segment in snapshot["segments"] if segment["device"] == device]
        self.segments = {segment["address"]: segment["total_size"] for segment in own}
        self.blocks = {block["address"]: block["state"] for segment in own for block in segment["blocks"]
                       if block["state"] != "inactive"}

    def undo(self, entry):
        """Raises KeyError or ValueError where the page would find nothing at the address."""
        action, at, size = entry["action"], entry.get("addr"), entry["size"]
        if action == "alloc":
            self.expect(at, "active_allocated")
            del self.blocks[at]
        elif action == "free_requested":
            self.expect(at, "active_pending_free")
            self.blocks[at] = "active_allocated"
        elif action == "free_completed":
            if at in self.blocks:
                raise ValueError(f"{at} is completed twice")
            self.blocks[at] = "active_pending_free"
        elif action in ("segment_alloc", "segment_map"):
            self.take(at, size, action == "segment_alloc")
        elif action in ("segment_free", "segment_unmap"):
            self.put(at, size, action == "segment_unmap")

    def expect(self, at, state):
        if self.blocks[at] != state:
            raise ValueError(f"{at} is {self.blocks[at]}; expected {state}")

    def take(self, at, size, whole):
        start = max((start for start in self.segments if start <= at), default=None)
        length = self.segments.pop(start)
        if at + size > start + length or (whole and (start, length) != (at, size)):
            raise ValueError(f"{at} to {at + size} is no part of {start} to {start + length}")
        if at > start:
            self.segments[start] = at - start
        if at + size < start + length:
            self.segments[at + size] = start + length - at - size

    def put(self, at, size, joins):
        self.segments[at] = size
        if not joins:
            return
        self.segments[at] += self.segments.pop(at + size, 0)
        before = max((start for start in self.segments if start < at), default=None)
        if before is not None and before + self.segments[before] == at:
            self.segments[before] += self.segments.pop(at)

    def blocks_lie_in_segments(self):
        starts = sorted(self.segments)
        places = ((at, bisect.bisect_right(starts, at) - 1) for at in self.blocks)
        return all(i >= 0 and at < starts[i] + self.segments[starts[i]] for at, i in places)


def torch_script():
    """PyTorch's _memory_viz.py; it needs nothing of torch, which may be a build for another machine."""
    found = importlib.util.find_spec("torch")
    if found is None:
        return None
    path = pathlib.Path(found.submodule_search_locations[0]) / "cuda" / "_memory_viz.py"
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Snapshots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def convert(self, source, *options, name="out.pickle"):
        target = self.folder / name
        self.run_program("convert", source, target, *options)
        if name.endswith(".json"):
            return target, json.loads(target.read_bytes())
        return target, values_in(target)

    def results(self, path, *options):
        run = json.loads(self.run_program("replay", path, "--json", *options))["runs"][0]
        del run["timing"], run["strategy"], run["exact"], run["interval"]
        return run

    def verdicts(self, path):
        done = subprocess.run([PROGRAM, "verify", path, "--json"], capture_output=True, text=True, timeout=100)
        return json.loads(done.stdout)["runs"]

    def check_page(self, path, snapshot, label):
        opcodes = {opcode.name for opcode, _, _ in pickletools.genops(path.read_bytes())}
        self.assertLessEqual(opcodes, PAGE_OPCODES, label)
        for segment in snapshot["segments"]:
            self.assertEqual(sum(block["size"] for block in segment["blocks"]), segment["total_size"], label)
        for device, entries in enumerate(snapshot["device_traces"]):
            memory = PageMemory(snapshot, device)
            for number in range(len(entries) - 1, -1, -1):
                if number % 50 == 0:
                    self.assertTrue(memory.blocks_lie_in_segments(), f"{label}, entry {number}")
                memory.undo(entries[number])

    def samples(self):
        """Bundled snapshots, and where there are any, some of the corpus."""
        return BUNDLED + sorted(CORPUS.glob("*.pickle"))[::12]

    def test_what_is_written_back_is_equal_for_python(self):
        for source in self.samples():
            original = values_in(source)
            _, pickled = self.convert(source)
            json_path, as_json = self.convert(source, name="out.json")
            _, back = self.convert(json_path, name="back.pickle")
            self.assertEqual(pickled, original, source)
            self.assertEqual(list(pickled), list(original), source)
            self.assertEqual(as_json, json.loads(json.dumps(original)), source)
            self.assertEqual(back, original, source)

    def test_unknown_and_odd_values_are_equal_for_python(self):
        odd = [2**70, -2**70, 2**63, -2**63, 1.5, 3.0, -0.0, None, (1,), (), "x" * 70000, "\udcff"]
        for protocol in range(5):
            # Before protocol 3 bytes are made by a call, which is refused.
            new = odd + [b"\0\xff"] * (protocol > 2)
            value = {"segments": [], "device_traces": [[]], "new": new, "again": new}
            source = self.folder / "in.pickle"
            source.write_bytes(pickle.dumps(value, protocol))
            _, copy = self.convert(source)
            self.assertEqual(copy, value, protocol)
            self.assertIs(copy["again"], copy["new"])

    def test_replays_open_as_the_page_opens_them(self):
        strategies = ["torch", "torch:expandable_segments=True", "recorded", "bfc", "cuda-async", "gmlake",
                      "rmm-pool", "direct", "buddy", "bump", "plan", "offload(torch):host=64GiB"]
        sources = [ROOT / "traces" / "torch" / name
                   for name in ("side_streams.pickle", "graph_pool.pickle", "gpt_train_oom.pickle",
                                "warm_ring.pickle")]
        for source in sources:
            for strategy in strategies:
                label = f"{source.name} under {strategy}"
                path, snapshot = self.convert(source, "-s", strategy)
                self.check_page(path, snapshot, label)

    def test_replays_of_the_corpus_are_verified_exactly(self):
        if not CORPUS.is_dir():
            self.skipTest(f"there is no {CORPUS}")
        for source in sorted(CORPUS.glob("*.pickle"))[::12]:
            for strategy in ("torch:max_split_size_mb=32", "torch:expandable_segments=True"):
                path, snapshot = self.convert(source, "-s", strategy)
                self.check_page(path, snapshot, f"{source.name} under {strategy}")
                self.assertEqual({run["verdict"] for run in self.verdicts(path)}, {"exact"}, (source, strategy))

    def test_an_anonymised_snapshot_holds_no_text_of_the_original_and_gives_the_same_results(self):
        for source in self.samples():
            original = values_in(source)
            settings = original.get("allocator_settings", {}).get("PYTORCH_CUDA_ALLOC_CONF", "")
            path, hidden = self.convert(source, "--anonymise")
            names = set(texts_of(original)) - FIXED - {settings}
            self.assertEqual(names & set(texts_of(hidden)), set(), source)
            content = path.read_bytes().decode("latin-1")
            for name in names:
                if "/" in name or "." in name:
                    self.assertNotIn(name, content, source)
            times = [entry["time_us"] for trace in original["device_traces"] for entry in trace]
            shown = [entry["time_us"] for trace in hidden["device_traces"] for entry in trace]
            self.assertEqual([b - a for a, b in zip(times, times[1:])], [b - a for a, b in zip(shown, shown[1:])])
            self.assertEqual(self.shape(original), self.shape(hidden), source)
            if len(original["device_traces"]) == 1:
                for options in ((), ("-s", "torch:expandable_segments=True"), ("-s", "bfc")):
                    self.assertEqual(self.results(path, *options), self.results(source, *options), source)
            for run, kept in zip(self.verdicts(source), self.verdicts(path)):
                for key in ("allocs", "allocs_matched", "segment_events_matched", "verdict"):
                    self.assertEqual(run[key], kept[key], source)

    @staticmethod
    def shape(snapshot):
        """Actions and sizes, and the first entry with the same stack."""
        stacks = {}

        def stack(entry, number):
            frames = tuple(tuple(frame.items()) for frame in entry.get("frames", ()))
            return len(frames), stacks.setdefault(frames, number)

        return [[(entry["action"], entry["size"], *stack(entry, number)) for number, entry in enumerate(trace)]
                for trace in snapshot["device_traces"]]

    def test_an_anonymised_csv_holds_no_tag(self):
        source = self.folder / "in.csv"
        source.write_text("op,id,size,tag\na,7,512,secret\nf,7,,\n", encoding="utf-8")
        self.run_program("convert", source, self.folder / "out.csv", "--anonymise")
        self.assertNotIn("secret", (self.folder / "out.csv").read_text(encoding="utf-8"))

    def test_a_minimised_recording_opens_in_the_page_and_is_still_refused(self):
        conditions = ("-s", "torch", "--capacity", "5226MiB")
        path, snapshot = self.convert(ROOT / "traces" / "torch" / "gpt_train_oom.pickle", "--minimise", *conditions)
        self.check_page(path, snapshot, "minimised")
        self.assertLess(len(snapshot["device_traces"][0]), 30)
        self.assertEqual(snapshot["device_traces"][0][-1]["action"], "oom")
        self.assertEqual(self.results(path, *conditions)["ooms"], 1)

    def test_pytorch_s_own_script_reads_them(self):
        script = torch_script()
        if script is None:
            self.skipTest("there is no torch for this Python")
        made = [self.convert(BUNDLED[0]), self.convert(BUNDLED[0], "--anonymise")]
        for strategy in ("torch:expandable_segments=True", "torch", "bfc", "rmm-pool"):
            made.append(self.convert(ROOT / "traces" / "torch" / "side_streams.pickle", "-s", strategy))
            self.script_reads(script, *made[-1])
        for path, snapshot in made[:2]:
            self.script_reads(script, path, snapshot)

    def script_reads(self, script, path, snapshot):
        stats = script.segsum(snapshot)  # asserts that its sums agree
        self.assertIn(f"segments: {len(snapshot['segments'])}\n", stats)
        self.assertIn(f"{len(snapshot['device_traces'][0])} entries", script.trace(snapshot))
        for flames in (script.segments, script.memory):
            lines = flames(snapshot, format_flamegraph=lambda text: text)
            total = sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines())
            self.assertEqual(total, sum(segment["total_size"] for segment in snapshot["segments"]))
        for page in (script.trace_plot(snapshot), script.segment_plot(snapshot),
                     script.trace_plot(snapshot, plot_segments=True)):
            self.assertIn("add_local_files", page)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
