"""What `explain --pprof` and `--collapsed` write is what the format says, and sums to what `explain --json` says."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TORCH = pathlib.Path(__file__).resolve().parents[2] / "traces/torch"
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


def explained(*arguments):
    """The answer, the profile and the collapsed lines of one run."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("json", "pprof", "collapsed")]
        subprocess.run([PROGRAM, "explain", *arguments, "--quiet", *(f"--{file.name}={file}" for file in files)],
                       check=True)
        answer, profile, lines = (file.read_bytes() for file in files)
    return json.loads(answer), Profile(profile), lines.decode().splitlines()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(field, value) of a message: numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        yield key >> 3, value


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Profile:
    """A pprof file: samples as (frames from the outermost on, values, labels)."""

    def __init__(self, data):
        parts = collections.defaultdict(list)
        for field, value in fields(gzip.decompress(data)):
            parts[field].append(value)
        self.texts = [text.decode() for text in parts[6]]
        self.types = [tuple(self.texts[number] for _, number in fields(kind)) for kind in parts[1]]
        self.default = self.texts[parts[14][0]]
        functions = {}
        for function in map(dict, map(fields, parts[5])):
            functions[function[1]] = (self.texts[function.get(2, 0)], self.texts[function.get(4, 0)])
        locations = {}
        for location in map(dict, map(fields, parts[4])):
            line = dict(fields(location[4]))
            locations[location[1]] = (*functions[line[1]], line.get(2, 0))
        self.samples = []
        for sample in map(dict, map(fields, parts[2])):
            labels = {self.texts[k]: self.texts[v] for k, v in [numbers_of_label(sample[3])]} if 3 in sample else {}
            frames = [locations[number] for number in reversed(numbers(sample[1]))]
            self.samples.append((frames, numbers(sample[2]), labels))

    def sums(self):
        return [sum(column) for column in zip(*(values for _, values, _ in self.samples))]


def numbers_of_label(data):
    label = dict(fields(data))
    return label[1], label[2]


class Profiles(unittest.TestCase):
    def test_sums_are_those_of_explain(self):
        for name, at in (("seq_growth", "peak"), ("gpt_train_oom", "reserved-peak"), ("warm_ring", "20"),
                         ("side_streams", "peak")):
            with self.subTest(name=name, at=at):
                answer, profile, lines = explained(TORCH / f"{name}.pickle", "--at", at)
                requests, requested, blocks, live = profile.sums()
                self.assertEqual(live, answer["live_requested_bytes"])
                self.assertEqual(blocks, answer["live_blocks"])
                self.assertGreaterEqual(requested, live)
                self.assertGreaterEqual(requests, blocks)
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), live)

    def test_values_and_stacks_are_named_as_go_and_flame_graphs_have_them(self):
        _, profile, lines = explained(TORCH / "seq_growth.pickle")
        self.assertEqual(profile.types, [("alloc_objects", "count"), ("alloc_space", "bytes"),
                                         ("inuse_objects", "count"), ("inuse_space", "bytes")])
        self.assertEqual(profile.default, "inuse_space")
        self.assertEqual(profile.texts[0], "")
        expected = collections.Counter()
        for frames, values, _ in profile.samples:
            if values[3]:
                expected[";".join(f"{function} ({file}:{line})" for function, file, line in frames)] += values[3]
        self.assertEqual(dict(expected), {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines})

    def test_several_recordings_are_told_apart(self):
        traces = [TORCH / "layers_4.pickle", TORCH / "layers_5.pickle"]
        _, profile, lines = explained(*traces)
        expected = {f"{trace} gpu 0" for trace in traces}
        self.assertEqual({labels["device"] for _, _, labels in profile.samples}, expected)
        self.assertEqual({line.split(";")[0] for line in lines}, expected)


if __name__ == "__main__":
    unittest.main()
