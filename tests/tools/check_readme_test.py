"""check_readme finds the pages by itself and sees what is no longer true in them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_readme"
PROGRAM = '#!/bin/sh\n[ "$1" = fail ] && exit 2\necho "$*"\n'


def shows(command, output):
    return f"Text.\n\n```console\n$ {command}\n{output}```\n"


class CheckReadme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("build/memreplay", PROGRAM).chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check(self, *options):
        run = subprocess.run([sys.executable, TOOL, "--root", self.root, *options, self.root / "build/memreplay"],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines()

    def test_every_readme_that_shows_a_command_is_run(self):
        self.write("README.md", shows("memreplay one", "one\n"))
        self.write("lib/trace/README.md", shows("memreplay two", "two\n"))
        self.write("tools/README.md", "```console\nno command\n```\n")
        self.assertEqual(self.check(), (0, ["README.md: 1 commands print what is shown",
                                            "lib/trace/README.md: 1 commands print what is shown"]))

    def test_what_is_built_or_hidden_is_no_page(self):
        self.write("README.md", shows("memreplay one", "one\n"))
        self.write("build/README.md", shows("memreplay two", "three\n"))
        self.write(".git/README.md", shows("memreplay two", "three\n"))
        self.assertEqual(self.check()[0], 0)

    def test_an_output_that_is_no_longer_true_is_shown_with_its_page(self):
        self.write("lib/README.md", shows("memreplay now", "before\n"))
        status, lines = self.check()
        self.assertEqual((status, lines[:2]), (1, ["lib/README.md:", "$ memreplay now"]))

    def test_an_update_makes_every_page_true(self):
        self.write("README.md", shows("memreplay now", "before\n"))
        self.write("lib/README.md", shows("memreplay fail", "") + shows("echo $?", "0\n"))
        self.assertEqual(self.check("--update"), (0, ["2 of 2 outputs rewritten"]))
        self.assertIn("$ memreplay now\nnow\n", (self.root / "README.md").read_text())
        self.assertEqual(self.check()[0], 0)

    def test_only_memreplay_is_run(self):
        self.write("README.md", shows("rm -r .", ""))
        self.assertEqual(self.check()[0], 1)

    def test_a_link_leads_to_a_file(self):
        self.write("README.md", shows("memreplay one", "one\n") + "[a](lib/README.md#there) [b](https://c.de/f)\n")
        self.write("lib/README.md", "[the start](../README.md) and [nothing](gone/README.md)\n")
        status, lines = self.check()
        self.assertEqual((status, lines[1:]), (1, ["lib/README.md: gone/README.md is not there"]))

    def test_no_command_at_all_is_a_failure(self):
        self.write("README.md", "Nothing here.\n")
        self.assertEqual(self.check(), (1, ["check_readme: no command is shown"]))


if __name__ == "__main__":
    unittest.main()
