"""What `memreplay completion SHELL` writes, driven by that shell."""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()

# What readline would put in place of the last word, and whether a space follows.
BASH = r"""
compopt() { echo "compopt $*" >> "$NOTES"; }
source "$SCRIPT"
COMP_LINE=$1 COMP_POINT=${#1}
_memreplay memreplay
printf '%s\n' "${COMPREPLY[@]}"
"""


def script(shell):
    return subprocess.run([PROGRAM, "completion", shell], capture_output=True, text=True, check=True).stdout



class Completion(unittest.TestCase):
    shell = ""

    def setUp(self):
        if not self.shell or not shutil.which(self.shell):
            self.skipTest(f"{self.shell or 'no shell'} is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "_memreplay").write_text(script(self.shell), encoding="ascii")
        (self.folder / "run.pickle").touch()


class Bash(Completion):
    shell = "bash"

    def offered(self, line):
        self.notes = self.folder / "notes"
        self.notes.write_text("", encoding="ascii")
        done = subprocess.run(
            ["bash", "--norc", "-c", BASH, "bash", line], check=True, capture_output=True, text=True,
            env={**os.environ, "SCRIPT": str(self.folder / "_memreplay"), "NOTES": str(self.notes)})
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands(self):
        self.assertEqual(self.offered("memreplay re"), ["replay", "report", "record"])
        self.assertEqual(self.offered("memreplay help exp"), ["explain"])

    def test_options_of_the_command_alone(self):
        self.assertEqual(self.offered("memreplay tune --obj"), ["--objective"])
        self.assertEqual(self.offered("memreplay info --obj"), [])

    def test_values_that_an_option_knows(self):
        self.assertEqual(self.offered("memreplay replay a --on-oom "), ["continue", "stop"])
        self.assertEqual(self.offered("memreplay replay a --on-oom=s"), ["stop"])
        self.assertEqual(self.offered("memreplay info --format torch-"), ["torch-snapshot", "torch-json", "torch-timeline"])
        self.assertEqual(self.offered("memreplay fit a --device-name RTX-409"), ["RTX-4090"])

    def test_words_of_a_first_argument(self):
        self.assertEqual(self.offered("memreplay list s"), ["strategies", "schema"])
        self.assertEqual(self.offered("memreplay completion "), ["bash", "zsh", "fish"])

    def test_strategies(self):
        self.assertEqual(self.offered("memreplay replay a -s rmm-a"), ["rmm-arena"])
        self.assertEqual(self.offered("memreplay compare a --strategy=rmm-a"), ["rmm-arena"])

    def test_keys_of_a_strategy_without_a_space_behind(self):
        self.assertEqual(self.offered("memreplay replay a -s torch:max_s"), ["max_split_size_mb="])
        self.assertIn("-o nospace", self.notes.read_text(encoding="ascii"))

    def test_a_metric_that_takes_a_value(self):
        self.assertEqual(self.offered("memreplay check a --metric gap"), ["gap_bytes"])
        self.assertEqual(self.offered("memreplay check a --limit gap"), ["gap_bytes="])
        self.assertIn("-o nospace", self.notes.read_text(encoding="ascii"))

    def test_values_of_keys_and_further_keys(self):
        self.assertEqual(self.offered("memreplay replay a -s torch:expandable_segments="), ["True", "False"])
        self.assertEqual(self.offered("memreplay fit a -s torch:expandable_segments=True,max_s"),
                         ["True,max_split_size_mb="])

    def test_files_are_left_to_the_shell_and_numbers_to_the_person(self):
        self.assertEqual(self.offered("memreplay info "), [])
        self.assertEqual(self.notes.read_text(encoding="ascii"), "")
        self.assertEqual(self.offered("memreplay info --gpu "), ["host"])
        self.assertEqual(self.offered("memreplay explain --top "), [])
        self.assertEqual(self.notes.read_text(encoding="ascii"), "compopt +o default\n")


class Fish(Completion):
    shell = "fish"

    def offered(self, line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source _memreplay; complete -C '{line}'"], cwd=self.folder,
                              check=True, capture_output=True, text=True, env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.stderr, "")
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    def test_commands_options_values_and_files(self):
        self.assertEqual(self.offered("memreplay rep"), ["replay", "report"])
        self.assertEqual(self.offered("memreplay tune --obj"), ["--objective"])
        self.assertEqual(self.offered("memreplay replay a --on-oom "), ["continue", "stop"])
        self.assertEqual(self.offered("memreplay info run"), ["run.pickle"])
        self.assertEqual(self.offered("memreplay list s"), ["strategies", "schema"])

    def test_strategies_their_keys_and_values(self):
        self.assertEqual(self.offered("memreplay replay a -s rmm-a"), ["rmm-arena"])
        self.assertEqual(self.offered("memreplay replay a -s torch:max_s"), ["torch:max_split_size_mb="])
        self.assertEqual(self.offered("memreplay replay a -s torch:backend=native,expandable_segments=T"),
                         ["torch:backend=native,expandable_segments=True"])


class Zsh(Completion):
    shell = "zsh"

    def typed(self, line, wanted):
        """The screen of a shell in which a person types a line and a tab, once it shows what is wanted."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "HOME": str(self.folder), "TERM": "dumb", "PS1": ">"})
        begin = f"fpath=({self.folder} $fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste\n"
        os.write(terminal, begin.encode() + line.encode() + b"\t")
        screen, until = "", time.monotonic() + 20
        while wanted not in screen and time.monotonic() < until:
            if select.select([terminal], [], [], 0.2)[0]:
                screen += os.read(terminal, 65536).decode(errors="replace")
        os.close(terminal)
        os.waitpid(child, 0)
        return screen

    def assert_becomes(self, line, wanted):
        self.assertIn(wanted, self.typed(line, wanted))

    def test_commands_options_and_values(self):
        self.assert_becomes("memreplay expl", "memreplay explain ")
        self.assert_becomes("memreplay tune --obj", "memreplay tune --objective")
        self.assert_becomes("memreplay replay a --on-oom s", "--on-oom stop")
        self.assert_becomes("memreplay info ru", "run.pickle")

    def test_strategies_their_keys_and_values(self):
        self.assert_becomes("memreplay replay a -s rmm-ar", "-s rmm-arena")
        self.assert_becomes("memreplay replay a -s torch:max_s", "-s torch:max_split_size_mb=")
        self.assert_becomes("memreplay replay a -s torch:expandable_segments=T", "expandable_segments=True")


del Completion
if __name__ == "__main__":
    unittest.main()
