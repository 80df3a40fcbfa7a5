"""What a recording says of its program, by every command that takes one: the same, under the same keys.

Usage: facts_test.py PROGRAM [--all]; --all: every bundled recording, else one of each kind.
"""
import gzip
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from values import values_of  # noqa: E402

TRACES = ROOT / "traces"
PROGRAM = ""
ALL = False

# Beside "whole", which marks an object that speaks of a recording's device.
FACTS = ("whole", "ends", "starts")
# One of each kind: ends at its OOM, starts late, is whole, had an OOM and went on, has tags.
KINDS = ("torch/gpt_train_oom.pickle", "torch/warm_ring.pickle", "torch/layers_4.pickle",
         "torch/pools_kept_whole.pickle", "fragmentation.csv")
NO_RECORDINGS = {"memory.json", "layers.json", "phases.counters.json"}
COMMANDS = {
    "info": ["info", "{}"],
    "explain": ["explain", "{}"],
    "replay": ["replay", "{}"],
    "compare": ["compare", "{}"],
    "tune": ["tune", "{}", "--runs", "20"],
    "fit": ["fit", "{}"],
    "suggest": ["suggest", "{}", "--budget", "64GiB", "--only", "checkpoint"],
    "plan": ["plan", "{}", "--timeout", "0.1"],
    "stress": ["stress", "{}", "--orders", "20"],
    "ranks": ["ranks", "{}", "{}"],
    "diff": ["diff", "{}", "{}"],
    "update": ["check", "{}", "--baseline", "{baseline}", "--update"],
    "check": ["check", "{}", "--baseline", "{baseline}"],
}


def refused_at(snapshot, event):
    """What the program would have left, had it been refused its first request from that event on: more than the device has."""
    trace = snapshot["device_traces"][0]
    while trace[event]["action"] != "alloc":
        event += 1
    segments, blocks = {}, {}
    for entry in trace[:event]:
        what, at = entry["action"], entry["addr"]
        if what == "segment_alloc":
            segments[at] = entry
        elif what == "segment_free":
            del segments[at]
        elif what == "alloc":
            blocks[at] = entry
        elif what == "free_completed":
            blocks.pop(at, None)
    state = []
    for at, segment in sorted(segments.items()):
        inside, end = [], at
        for block in sorted(b for b in blocks if at <= b < at + segment["size"]):
            size = -(-blocks[block]["size"] // 512) * 512
            if block > end:
                inside.append({"size": block - end, "state": "inactive"})
            inside.append({"size": size, "requested_size": blocks[block]["size"], "state": "active_allocated"})
            end = block + size
        if end < at + segment["size"]:
            inside.append({"size": at + segment["size"] - end, "state": "inactive"})
        state.append({"address": at, "total_size": segment["size"], "stream": segment["stream"], "device": 0,
                      "segment_type": "large" if segment["size"] > 2 << 20 else "small", "blocks": inside})
    refused = {**trace[event], "action": "oom", "device_free": 0, "size": sum(segment["total_size"] for segment in state) + 512}
    return {**snapshot, "segments": state, "device_traces": [trace[:event] + [refused]]}


def with_empty_devices(snapshot):
    """The same on the second of three devices, the others with one mark each."""
    mark = {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "frames": []}
    segments = [{**segment, "device": 1} for segment in snapshot["segments"]]
    return {**snapshot, "segments": segments, "device_traces": [[mark], snapshot["device_traces"][0], [mark]]}


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        return values_of(file.read())


def failures_in(document):
    """By command, of what is replayed as it was recorded: (key, value) of why memory ran out, of what and on what."""
    if document["command"] in ("suggest", "plan"):  # asked about another device, about none
        return
    results = document.get("results") or [document]
    for result in results:
        runs = [*result.get("runs", []), *filter(None, [result.get("baseline")])]
        for run in filter(lambda run: isinstance(run, dict), runs):
            if run.get("strategy") == "recorded" or run is result.get("baseline"):
                refused = run.get("first_oom")
                yield "cause", run.get("cause")
                yield "requested_bytes", refused and refused["requested_bytes"]
        if document["command"] in ("explain", "tune"):
            yield "cause", result["cause"]
        if document["command"] == "explain":
            yield "requested_bytes", result["requested_bytes"] or None
        yield "usable_bytes", (result.get("device") or {}).get("usable_bytes")


def facts_in(document):
    """By device: every object of a document that says whether its recording is whole."""
    if isinstance(document, list):
        for element in document:
            yield from facts_in(element)
    elif isinstance(document, dict):
        if "whole" in document:
            yield (document.get("trace") if isinstance(document.get("trace"), dict) else document).get("gpu"), document
        for value in document.values():
            yield from facts_in(value)


class Facts(unittest.TestCase):
    answers = {}

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name)
        names = KINDS
        if ALL:
            names = [path.relative_to(TRACES).as_posix() for path in sorted(TRACES.rglob("*.*"))
                     if path.suffix in (".pickle", ".gz", ".csv") and path.name not in NO_RECORDINGS]
        cls.recordings = [TRACES / name for name in names]
        training = read(TRACES / "torch/gpt_step.pickle.gz")
        length = len(training["device_traces"][0])
        made = {"early": refused_at(training, length // 5), "later": refused_at(training, length * 4 // 5),
                "empty": with_empty_devices(read(TRACES / "torch/layers_4.pickle"))}
        for name, snapshot in made.items():
            path = folder / f"{name}.pickle"
            path.write_bytes(pickle.dumps(snapshot))
            cls.recordings.append(path)
        cls.folder = folder

    def run_one(self, name, recording, *more):
        words = [word.format(recording, baseline=self.folder / f"{recording.name}.json") for word in COMMANDS[name]]
        done = subprocess.run([PROGRAM, *words, *more], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertTrue(done.stdout, f"{name} {recording.name}: {done.stderr}")  # stress may have nothing to do: 2
        return done.stdout

    def answered(self, recording):
        """By command: its JSON, and its text. Each is asked once."""
        if recording not in self.answers:
            (self.folder / f"{recording.name}.json").unlink(missing_ok=True)
            self.answers[recording] = [(name, json.loads(self.run_one(name, recording, "--json")), self.run_one(name, recording))
                                       for name in COMMANDS]
        return self.answers[recording]

    def test_every_command_says_the_same(self):
        for recording in self.recordings:
            said = {}
            for name, document, text in self.answered(recording):
                facts = list(facts_in(document))
                self.assertTrue(facts, f"{name} {recording.name} does not say whether it is whole")
                for gpu, found in facts:
                    for key in FACTS:
                        self.assertIn(key, found, f"{name} {recording.name}")
                        first = said.setdefault((gpu, key), (name, found[key]))
                        self.assertEqual(found[key], first[1], f"{key} of {recording.name}: {name}, {first[0]}")
                if any(not found["whole"] for _, found in facts):
                    claim = re.search(r"\bfits\b(?! in )|\bat most\b", text)
                    holds = "at least" not in text and re.search(r"\bif the unfinished step\b", text)
                    self.assertTrue(not claim or holds, f"{name} {recording.name}: {text}")

    def test_a_failure_is_the_same_in_every_command(self):
        for recording in self.recordings:
            said = {}
            for name, document, _ in self.answered(recording):
                for key, value in failures_in(document):
                    if value is None:  # not looked at
                        continue
                    first = said.setdefault(key, (name, value))
                    self.assertEqual(value, first[1], f"{key} of {recording.name}: {name}, {first[0]}")
            if recording.name == "early.pickle":
                self.assertEqual(set(said), {"cause", "requested_bytes", "usable_bytes"})

    def test_they_are_true_of_those_made(self):
        ends = {"early.pickle": "oom_in_first_step", "gpt_train_oom.pickle": "cut", "layers_4.pickle": "whole"}
        for recording in self.recordings:
            if recording.name not in ends:
                continue
            found = dict(facts_in(json.loads(self.run_one("info", recording, "--json"))))
            self.assertEqual(found[0]["ends"], ends[recording.name])
            self.assertEqual(found[0]["whole"], ends[recording.name] == "whole")

    def test_a_state_without_a_history_is_not_whole(self):
        state = self.folder / "state.pickle"
        state.write_bytes(pickle.dumps({**read(TRACES / "torch/layers_4.pickle"), "device_traces": [[]]}))
        for name in ("info", "explain", "replay", "fit", "ranks", "diff"):
            for _, found in facts_in(json.loads(self.run_one(name, state, "--json"))):
                self.assertEqual((found["whole"], found["ends"]), (False, "cut"), name)


if __name__ == "__main__":
    ALL = "--all" in sys.argv
    if ALL:
        sys.argv.remove("--all")
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
