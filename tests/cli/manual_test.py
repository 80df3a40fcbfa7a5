"""The pages of the manual: one for each command, which man and groff take without a warning."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


def printed(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def commands():
    """As the help lists them, with the words behind each."""
    return dict(line.split(maxsplit=1) for line in printed("--help").splitlines() if line.startswith("  "))


def rendered(page, *command):
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200"})
    return done.stdout, done.stderr


class Manual(unittest.TestCase):
    def pages(self):
        return {name: printed("manual", *name) for name in [()] + [(name,) for name in commands()]}

    def test_each_command_has_a_page_with_its_options(self):
        for name in commands():
            page = printed("manual", name).replace("\\-", "-")
            self.assertIn(f'.TH "memreplay-{name}" 1', page)
            for line in printed(name, "--help-all").splitlines():
                if line.startswith("  -"):
                    self.assertIn(f'.B "{line.strip().split("  ")[0]}"', page)

    def test_the_first_page_names_all_of_them(self):
        page = printed("manual")
        for name, summary in commands().items():
            self.assertIn(f'.B "{name}"\n{summary}\n', page.replace("\\-", "-"))

    def test_groff_has_no_warning(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for page in self.pages().values():
            self.assertEqual(rendered(page, "groff", "-man", "-ww", "-z"), ("", ""))

    def test_man_has_no_warning_and_shows_options_as_they_are_typed(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("man is not installed")
        for page in self.pages().values():
            self.assertEqual(rendered(page, "man", "--warnings", "-l", "-")[1], "")
        shown = rendered(printed("manual", "replay"), "man", "-l", "-")[0]
        self.assertIn("--on-oom continue|stop", shown)
        self.assertIn("--json[=F]", shown)


if __name__ == "__main__":
    unittest.main()
