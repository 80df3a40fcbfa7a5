#!/usr/bin/env python3
"""What the workflows run is there: commands, presets, pinned actions."""
import json
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}


PUBLISHING = {"pages.yml", "release.yml"}  # jobs of theirs may write


def presets(kind):
    return {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))[kind]}


class Workflows(unittest.TestCase):
    def test_they_run_the_test_command(self):
        self.assertIn("./tools/test", TEXTS["ci.yml"])

    def test_every_tool_is_there_and_can_be_run(self):
        for text in (*TEXTS.values(), (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
            for tool in re.findall(r"(?<![\w/])(?:\./)?(tools/\w[\w/]*)(?![\w/.{])", text):
                path = ROOT / tool
                self.assertTrue(path.is_dir() or os.access(path, os.X_OK), tool)

    def test_every_preset_is_there(self):
        for text in (*TEXTS.values(), (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
            for kind, name in re.findall(r"cmake (--workflow |--build )?--preset (\w+)", text):
                of = {"--workflow ": "workflowPresets", "--build ": "buildPresets"}.get(kind, "configurePresets")
                self.assertIn(name, presets(of), kind)

    def test_people_are_told_each_command(self):
        told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        for command in re.findall(r"command: (.+)", TEXTS["nightly.yml"]):
            for part in command.split(" && "):
                self.assertIn(part, told)

    def test_actions_are_pinned_and_write_nothing_but_the_page(self):
        for name, text in TEXTS.items():
            with self.subTest(name):
                for action in re.findall(r"uses: (.+)", text):
                    self.assertRegex(action, r"@[0-9a-f]{40} # v[\d.]+$")
                self.assertIn("\npermissions:\n  contents: read\n", text)
                if name not in PUBLISHING:
                    self.assertEqual(text.count("permissions:"), 1)
                self.assertIn("\nconcurrency:\n", text)

    def test_they_are_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no python3-yaml")
        for name, text in TEXTS.items():
            with self.subTest(name):
                self.assertTrue(yaml.safe_load(text)["jobs"])


if __name__ == "__main__":
    unittest.main()
