#!/usr/bin/env python3
"""The steps of action.yml, run by a shell with the files and variables that GitHub gives them.

Usage: action_test.py PROGRAM
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("skipped: no python3-yaml")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PROGRAM = ""


class Action(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.repository, self.temp = self.folder / "repository", self.folder / "temp"
        self.temp.mkdir()
        shutil.copytree(ROOT / "traces/torch", self.repository / "recordings", ignore=lambda _, names: [
            name for name in names if name not in ("layers_5.pickle", "layers_4.pickle")])
        (self.repository / "src").mkdir()
        (self.repository / "src/model.py").write_text("pass\n")
        self.program("check", "recordings/layers_4.pickle", "--baseline", "memory.json", "--update", "-q")

    def program(self, *arguments):
        subprocess.run([PROGRAM, *arguments], cwd=self.repository, check=True)

    def act(self, **given):
        """Runs every step until one fails. Returns exit code, log, summary and the outputs of each step."""
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        inputs.update({"program": PROGRAM, **given})
        values = {f"inputs.{name}": value for name, value in inputs.items()}
        summary, log = self.temp / "summary.md", ""
        for step in ACTION["runs"]["steps"]:
            script, output = self.temp / "step.sh", self.temp / "output"
            script.write_text(step["run"], encoding="utf-8")
            output.write_text("")
            fixed = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found.group(1)], text)
                     for name, text in step["env"].items()}
            ran = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.repository, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", "RUNNER_TEMP": str(self.temp),
                     "PIP_NO_INDEX": "1", "GITHUB_ACTION_PATH": str(self.folder / "source"),
                     "GITHUB_WORKSPACE": str(self.repository), "GITHUB_OUTPUT": str(output),
                     "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true", **fixed})
            log += ran.stdout
            for line in output.read_text().splitlines():
                name, _, value = line.partition("=")
                values[f"steps.{step['id']}.outputs.{name}"] = value
            if ran.returncode:
                break
        outputs = {name: values[one["value"][4:-3]] for name, one in ACTION["outputs"].items()}
        return ran.returncode, log, summary.read_text(), outputs

    def test_what_did_not_grow_passes_and_says_so(self):
        status, log, summary, outputs = self.act(recordings="recordings/layers_4*", baseline="memory.json")
        self.assertEqual(status, 0)
        self.assertIn("ok    recordings/layers_4.pickle: peak reserved", log)
        self.assertNotIn("::", log)
        self.assertEqual(outputs["passed"], "true")

    def test_what_grew_fails_names_the_line_and_writes_a_comment(self):
        shutil.copy(self.repository / "recordings/layers_5.pickle", self.repository / "recordings/layers_4.pickle")
        status, log, summary, outputs = self.act(recordings="recordings/layers_4.pickle")
        self.assertEqual(status, 1)
        self.assertIn("::error file=src/model.py,line=13,", log)
        self.assertIn("FAIL  peak reserved", log)
        comment = pathlib.Path(outputs["comment"]).read_text(encoding="utf-8")
        self.assertEqual(comment, summary)
        self.assertIn("**over**", comment)
        self.assertEqual(outputs["passed"], "false")

    def test_a_broken_recording_fails_and_the_others_are_checked(self):
        (self.repository / "recordings/layers_5.pickle").write_bytes(b"\x80\x04not a pickle")
        status, log, summary, outputs = self.act(recordings="recordings/*.pickle")
        self.assertEqual(status, 2)
        self.assertIn("::error title=recordings/layers_5.pickle is not checked::", log)
        self.assertIn("ok    recordings/layers_4.pickle", log)
        self.assertIn("could not be checked", summary)
        self.assertEqual(outputs["passed"], "false")

    def test_a_broken_baseline_fails_with_a_summary(self):
        (self.repository / "memory.json").write_text("{")
        status, log, summary, outputs = self.act(recordings="recordings/layers_4.pickle")
        self.assertEqual(status, 2)
        self.assertIn("memory.json", log)
        self.assertIn("could not run (exit 2)", summary)
        self.assertEqual(outputs["passed"], "false")

    def test_options_and_a_missing_baseline(self):
        status, log, _, _ = self.act(recordings="recordings/layers_4.pickle", options="--limit peak_reserved=1MiB")
        self.assertEqual(status, 1)
        self.assertIn("the budget", log)
        status, log, _, _ = self.act(recordings="recordings/layers_4.pickle", baseline="none.json")
        self.assertEqual(status, 2)
        self.assertIn("none.json", log)

    def test_a_folder_with_the_source_is_built_and_so_is_the_actions_own_where_no_index_has_the_package(self):
        source, bin_folder = self.folder / "source", self.folder / "bin"
        (source / "tools").mkdir(parents=True)
        bin_folder.mkdir()
        for tool, text in ((source / "tools/install_dependencies", "echo installing"),
                           (bin_folder / "cmake", 'echo "cmake $*"; mkdir -p build/release; '
                                                  f"ln -sf '{PROGRAM}' build/release/memreplay")):
            tool.write_text(f"#!/bin/sh\n{text}\n")
            tool.chmod(0o755)
        for given in (str(source), ""):
            with self.subTest(given):
                status, log, _, outputs = self.act(recordings="recordings/layers_4.pickle", program=given)
                self.assertEqual(status, 0, log)
                self.assertIn("cmake --build --preset release --target memreplay", log)
                self.assertIn("ok    recordings/layers_4.pickle", log)
                self.assertEqual("No package index has memreplay" in log, not given)
                shutil.rmtree(source / "build")

    def test_it_installs_the_version_of_this_repository(self):
        version = re.search(r"project\(memreplay VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
        self.assertEqual(ACTION["inputs"]["version"]["default"], version.group(1))


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
