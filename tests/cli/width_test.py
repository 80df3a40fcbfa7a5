"""Text follows the width of the terminal that it is printed on.

Usage: width_test.py PROGRAM
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OOM = "traces/torch/gpt_train_oom.pickle"
COMMANDS = [
    ["compare", OOM],
    ["compare", OOM, "--capacity", "5226MiB"],
    ["replay", OOM, "-s", "torch", "--capacity", "5226MiB", "--plot", "always"],
    ["tune", OOM, "--runs", "200"],
    ["explain", OOM],
    ["fit", OOM, "-s", "recorded", "-s", "torch:expandable_segments=True"],
    ["diff", "traces/torch/layers_4.pickle", "traces/torch/layers_5.pickle"],
    ["diff", OOM, "-s", "torch", "-s", "bfc"],
    ["ranks", "traces/torch/layers_4.pickle", "traces/torch/layers_5.pickle", "-s", "recorded", "-s", "torch"],
    ["stress", "traces/torch/warm_ring.pickle", "--orders", "50", "-s", "recorded", "-s", "bfc"],
    ["verify", OOM],
    ["list", "strategies"],
]
PROGRAM = ""


def on_terminal(arguments, columns, rows=0, **environment):
    """What a terminal of that size shows, without colours; of no rows, it does not say how many it has."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.chdir(ROOT)
        os.environ.update({"LC_ALL": "C.UTF-8", "NO_COLOR": "1", **environment})
        os.execv(PROGRAM, [PROGRAM, *arguments])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    os.waitpid(pid, 0)
    text = re.sub(r"[^\n]*\r\x1b\[K", "", shown.decode().replace("\r\n", "\n"))
    return text.splitlines()


def piped(arguments, **environment):
    run = subprocess.run([PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=True,
                         env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    return run.stdout.splitlines()


# A name that is longer than the line stands on one of its own, as commands do.
def may_be_long(line):
    return " " not in line.strip() or line.strip().startswith(("memreplay ", "export "))


class Width(unittest.TestCase):
    def test_no_line_is_wider_than_the_terminal(self):
        for columns in (60, 80, 100, 120):
            for command in COMMANDS:
                with self.subTest(columns=columns, command=command):
                    lines = on_terminal(command, columns)
                    self.assertTrue(lines)
                    wide = [line for line in lines if len(line) > columns and not may_be_long(line)]
                    self.assertEqual(wide, [])

    def test_a_wider_terminal_has_longer_lines(self):
        lengths = [max(len(line) for line in on_terminal(["explain", OOM], columns) if not may_be_long(line))
                   for columns in (60, 80, 120)]
        self.assertEqual(lengths, sorted(set(lengths)))

    def test_it_stays_within_sixty_and_a_hundred_and_twenty_columns(self):
        self.assertEqual(on_terminal(["explain", OOM], 20), on_terminal(["explain", OOM], 60))
        self.assertEqual(on_terminal(["explain", OOM], 300), on_terminal(["explain", OOM], 120))

    def test_columns_decides_where_the_terminal_does_not_know(self):
        self.assertEqual(on_terminal(["explain", OOM], 0, COLUMNS="70"), on_terminal(["explain", OOM], 70))
        self.assertEqual(on_terminal(["explain", OOM], 80, COLUMNS="70"), on_terminal(["explain", OOM], 80))

    def test_what_is_piped_is_as_wide_as_ever(self):
        self.assertEqual(piped(["explain", OOM], COLUMNS="70"), on_terminal(["explain", OOM], 100))

    def test_commands_are_whole_on_a_line_of_their_own(self):
        self.assertIn("    memreplay tune " + OOM, on_terminal(["explain", OOM], 60))
        self.assertIn(" export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                      on_terminal(["tune", OOM, "--runs", "200"], 60))

    def test_an_answer_that_has_scrolled_away_is_said_again(self):
        verdict = "Fragmentation: the 759 MiB request would have fitted, with 48.0 MiB to spare."
        self.assertEqual(on_terminal(["explain", OOM], 80, rows=24)[-1].strip(), verdict)
        self.assertNotEqual(on_terminal(["explain", OOM], 80, rows=60)[-1].strip(), verdict)

    def test_help_fits_a_screen_of_twenty_four_lines_of_eighty_columns(self):
        first = piped(["--help"])
        self.assertLessEqual(len(first), 24)
        commands = [line.split()[0] for line in first if line.startswith("  ")]
        pages = [first] + [piped([name, option]) for name in commands for option in ("--help", "--help-all")]
        self.assertEqual([line for page in pages for line in page if len(line) > 80], [])

    def test_a_number_keeps_its_unit(self):
        for columns in range(60, 121, 4):
            text = on_terminal(["explain", OOM], columns)
            self.assertEqual([line for line in text if re.match(r" *(MiB|KiB|GiB|%)\b", line)], [])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())
    unittest.main()
