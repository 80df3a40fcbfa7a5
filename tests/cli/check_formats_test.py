"""What `check` writes for other programs, held against what their documentation asks for.

Usage: check_formats_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ""
NUMBER = (int, float)

# A type, a tuple of types, [the type of each], or {key: what}: a key ending in "?" may be missing, "*" is any key.
# bencher.dev: Bencher Metric Format.
BENCHER = {"*": {"*": {"value": NUMBER, "lower_value?": NUMBER, "upper_value?": NUMBER}}}
# README of benchmark-action/github-action-benchmark: customSmallerIsBetter.
BENCHMARK_ACTION = [{"name": str, "unit": str, "value": NUMBER, "range?": str, "extra?": str}]
# Wiki of pytorch/pytorch: PyTorch OSS benchmark infra, records of v3.
OSS_BENCHMARK = [{
    "benchmark": {"name": str, "mode?": str, "dtype?": str, "extra_info?": {"*": object}},
    "model": {"name": str, "type?": str, "backend?": str, "origins?": [str], "extra_info?": {"*": object}},
    "metric": {"name": str, "benchmark_values": [NUMBER], "target_value?": NUMBER, "extra_info?": {"*": object}},
}]
# GitHub: ::error with properties in which % CR LF : , are escaped; of the message % CR LF.
ANNOTATION = re.compile(r"::error (file=(?P<file>[^:,%\r\n]|%[0-9A-F]{2})+,line=\d+,)?"
                        r"title=([^:,%\r\n]|%(25|0D|0A|3A|2C))+::([^%\r\n]|%(25|0D|0A))+")


def misfits(shape, value, place="."):
    """Where a value is not of a shape."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [text for i, one in enumerate(value) for text in misfits(shape[0], one, f"{place}[{i}]")]
    if not isinstance(shape, dict):
        fits = isinstance(value, shape) and (shape is object or not isinstance(value, bool))
        return [] if fits else [f"{place} is {value!r}"]
    if not isinstance(value, dict):
        return [f"{place} is no object"]
    if "*" in shape:
        return [text for key, one in value.items() for text in misfits(shape["*"], one, f"{place}{key}.")]
    known = {key.rstrip("?"): (what, key.endswith("?")) for key, what in shape.items()}
    found = [f"{place}{key} is unknown" for key in value if key not in known]
    found += [f"{place}{key} is missing" for key, (_, may) in known.items() if key not in value and not may]
    for key in value.keys() & known.keys():
        found += misfits(known[key][0], value[key], f"{place}{key}.")
    return found


class CheckFormats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, *arguments):
        return subprocess.run([PROGRAM, "check", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)

    def written(self, *arguments):
        """The JSON of each format, for a check of that command line."""
        options = ("bencher", "benchmark-action", "oss-benchmark")
        files = {option: self.folder / option for option in options}
        self.check(*arguments, *[word for option in options for word in (f"--{option}", str(files[option]))])
        return [json.loads(files[option].read_text(encoding="utf-8")) for option in options]

    def test_every_format_is_as_documented(self):
        for trace, baseline in (("traces/torch/layers_5.pickle", "traces/layers.json"),
                                ("traces/pinned-steps.csv", "traces/memory.json")):
            bencher, action, oss = self.written(trace, "--baseline", baseline)
            self.assertEqual(misfits(BENCHER, bencher), [])
            self.assertEqual(misfits(BENCHMARK_ACTION, action), [])
            self.assertEqual(misfits(OSS_BENCHMARK, oss), [])
            self.assertEqual(len(action), len(oss))
            self.assertGreater(len(action), 0)

    def test_an_estimate_has_its_interval_as_bounds(self):
        trace, baseline = "traces/torch/warm_ring.pickle", str(self.folder / "warm.json")
        self.check(trace, "--baseline", baseline, "--update", "-s", "torch:max_split_size_mb=32")
        bencher, action, _ = self.written(trace, "--baseline", baseline)
        metric = next(iter(bencher.values()))["peak_reserved_bytes"]
        self.assertLessEqual(metric["lower_value"], metric["value"])
        self.assertLessEqual(metric["value"], metric["upper_value"])
        self.assertTrue(any("range" in one for one in action))

    def test_what_failed_is_annotated_and_what_passed_is_not(self):
        run = self.check("traces/torch/layers_5.pickle", "--baseline", "traces/layers.json", "--github", "-")
        self.assertEqual(run.returncode, 1)
        lines = [line for line in run.stdout.splitlines() if line.startswith("::")]
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, ANNOTATION)
        self.assertIn(" FAIL  peak reserved", run.stdout)
        passed = self.check("traces/pinned-steps.csv", "--baseline", "traces/memory.json", "--github", "-")
        self.assertEqual(passed.returncode, 0)
        self.assertNotIn("::", passed.stdout)
        self.assertIn(" ok    traces/pinned-steps.csv", passed.stdout)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
