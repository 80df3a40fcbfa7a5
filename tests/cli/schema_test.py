#!/usr/bin/env python3
"""The published JSON Schema is what the program lists, and its reports of the bundled traces follow it."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from schema import FILE, ROOT, SCHEMA, faults_of

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
DESIGN = ROOT.parent / "shared/design.md"
ONE = "traces/torch/fragmentation.pickle"
QUESTIONS = [
    "info TRACE", "explain TRACE --tree --by-phase", "replay TRACE", "replay TRACE -s torch -s bfc --capacity 20G",
    "verify TRACE", "fit TRACE", "plan TRACE --timeout 1", "compare TRACE -s torch -s buddy --capacity none",
]
ONCE = [
    f"explain {ONE} --growth", f"lint {ONE}", "lint foo:1",
    f"tune {ONE} --runs 40", "tune traces/torch/layers_4.pickle traces/torch/layers_5.pickle --runs 20",
    "stress traces/torch/phases.pickle", f"ranks {ONE} traces/torch/layers_4.pickle --tune", f"info {ONE} --select stream=0",
    "suggest traces/torch/gpt_step.pickle.gz --budget 1G",
    "diff traces/torch/layers_4.pickle traces/torch/layers_5.pickle", f"diff {ONE} -s torch -s bfc",
    "diff traces/torch/layers_4.pickle traces/torch/layers_5.pickle -s torch",
    "check traces/pinned-steps.csv traces/torch/seq_growth.pickle --baseline traces/memory.json",
    f"fit {ONE} --device-name H100 --device-name 4090", f"fit {ONE} --capacity 24G",
    "fit --vary batch=2:traces/torch/batch_2.pickle.gz --vary batch=4:traces/torch/batch_4.pickle.gz"
    " --find batch --capacity 24G",
    "replay --vary batch=2:traces/torch/batch_2.pickle.gz --vary batch=4:traces/torch/batch_4.pickle.gz --at batch=8",
    "replay traces/torch/gpt_step.pickle.gz --edit scale:stream=0,factor=2", f"replay {ONE} --device host --scale 1/64",
    "list strategies", "list strategies torch", "list formats csv", "list metrics", "list cards", "list workloads",
]


def run(command):
    return subprocess.run([PROGRAM, *command.split(), "--json", "--quiet"], cwd=ROOT, capture_output=True, text=True)


class Schema(unittest.TestCase):
    def test_the_published_file_is_what_the_program_lists(self):
        listed = subprocess.run([PROGRAM, "list", "schema"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(FILE.read_text(encoding="utf-8"), listed,
                         "memreplay list schema > apps/python/memreplay/memreplay-1.schema.json")

    def test_every_key_says_what_it_is(self):
        for name, definition in SCHEMA["$defs"].items():
            for key, value in definition["properties"].items():
                self.assertTrue(value.get("description"), f"{name}.{key}")

    def test_reports_of_the_bundled_traces_follow_it(self):
        traces = [path.relative_to(ROOT) for path in sorted((ROOT / "traces/torch").glob("*.pickle"))]
        commands = [question.replace("TRACE", str(trace)) for trace in traces for question in QUESTIONS]
        for command in commands + ONCE:
            with self.subTest(command):
                ran = run(command)
                self.assertIn(ran.returncode, (0, 1), ran.stderr)
                self.assertEqual(json.loads(ran.stdout)["schema"], "memreplay/1")
                self.assertEqual(faults_of(ran.stdout), [])

    def test_a_key_that_is_not_listed_is_found(self):
        report = json.loads(run(f"verify {ONE}").stdout)
        report["runs"][0]["surprise"] = 1
        del report["trace"]["path"]
        self.assertEqual(faults_of(json.dumps(report)), ["..trace.path is missing", "..runs[0].surprise is not listed"])

    def test_it_is_a_valid_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no python3-jsonschema")
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_it_has_every_key_of_the_design(self):
        if not DESIGN.exists():
            self.skipTest("no ../shared/design.md")
        section = DESIGN.read_text(encoding="utf-8").split("### JSON", 1)[1].split("\n### ", 1)[0]
        named = set(re.findall(r'"(\w+)":', section))
        listed = set(re.findall(r'"([^"]+)": ?\{', FILE.read_text(encoding="utf-8")))
        self.assertEqual(named - listed, set())


if __name__ == "__main__":
    unittest.main()
