"""What reaches a terminal: colours as asked for, no control character of a name, ASCII where the locale wants it.

Usage: terminal_test.py PROGRAM
"""
import json
import os
import pathlib
import pickle
import pty
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OOM = ROOT / "traces" / "torch" / "gpt_train_oom.pickle"
WARM = ROOT / "traces" / "torch" / "layers_5.pickle"
PROGRAM = ""
EVIL = "f\x1b]0;gone\x07\x1b[31m\x9b\r\u202e…\udc80"
COLOURS = re.compile("\x1b\\[(0|1|31)m")


def evil_recording():
    """One allocation whose function, file and tag want more of a terminal than letters."""
    frames = [{"filename": f"/home/me/{EVIL}.py", "line": 7, "name": EVIL}]
    address, size = 0x7F0000000000, 20 << 20
    events = [{"action": "segment_alloc", "addr": address, "size": size, "stream": 0, "frames": frames},
              {"action": "alloc", "addr": address, "size": size, "stream": 0, "frames": frames},
              {"action": "oom", "addr": 1 << 20, "size": size, "stream": 0, "frames": frames, "device_free": 1 << 20}]
    block = {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}
    segment = {"address": address, "total_size": size, "stream": 0, "segment_type": "large", "device": 0,
               "allocated_size": size, "active_size": size, "requested_size": size, "frames": [], "blocks": [block]}
    return {"segments": [segment], "device_traces": [events],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": f"evil:{EVIL}"}}


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, **changes):
        kept = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "TERM")}
        return {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", **changes}

    def piped(self, *arguments, **changes):
        run = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False,
                             timeout=60, env=self.environment(**changes))
        return run.stdout.decode("utf-8"), run.stderr.decode("utf-8")

    def on_terminal(self, *arguments, **changes):
        ours, theirs = pty.openpty()
        program = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=theirs, stderr=theirs, env=self.environment(**changes))
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:
            pass  # its end is how a terminal says that nobody writes any more
        os.close(ours)
        program.wait(60)
        return shown.decode("utf-8").replace("\r\n", "\n").replace("\r\x1b[K", "")

    def test_colour_is_as_asked_for(self):
        explain = ["explain", OOM]
        self.assertRegex(self.on_terminal(*explain), COLOURS)
        self.assertNotRegex(self.on_terminal(*explain, NO_COLOR="1"), COLOURS)
        self.assertNotRegex(self.on_terminal(*explain, TERM="dumb"), COLOURS)
        self.assertNotRegex(self.on_terminal(*explain, "--color", "never"), COLOURS)
        self.assertNotRegex(self.piped(*explain)[0], COLOURS)
        self.assertNotRegex(self.piped(*explain, "--color", "auto")[0], COLOURS)
        self.assertRegex(self.piped(*explain, "--color", "always", NO_COLOR="1")[0], COLOURS)

    def test_every_command_that_prints_text_takes_a_colour(self):
        for command in ("info", "replay", "compare", "verify", "explain", "tune", "fit", "check", "diff", "calibrate",
                        "convert", "lint", "list", "ranks", "stress"):
            self.assertIn("--color auto|always|never", self.piped("help", command)[0], command)

    def test_names_reach_a_terminal_escaped(self):
        recording = self.folder / "evil\x1b[2J.pickle"
        recording.write_bytes(pickle.dumps(evil_recording()))
        name = recording.name
        forms = [["info", name], ["explain", name], ["explain", name, "--csv"], ["explain", name, "--markdown"],
                 ["explain", name, "--json"], ["replay", name, "-s", "torch"], ["compare", name, "-s", "torch"],
                 ["verify", name], ["lint", name], ["diff", name, name], ["replay", name, "-s", EVIL[:8]],
                 ["info", f"missing{EVIL[:8]}"], [f"no{EVIL[:8]}"], ["info", f"--no{EVIL[:8]}"],
                 ["convert", name, "out.csv"], ["list", "strategies", EVIL[:8]]]
        for arguments in forms:
            with self.subTest(arguments=arguments):
                texts = [self.on_terminal(*arguments)]
                if arguments[-1] not in ("--csv", "--json"):
                    texts.append("".join(self.piped(*arguments)))
                for shown in texts:
                    controls = set(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", COLOURS.sub("", shown)))
                    self.assertEqual(controls, set(), shown)
        self.assertIn("\\x1b]0;gone\\x07\\x1b[31m\\u009b\\x0d\\u202e…", self.piped("explain", name)[0])

    def test_a_name_with_line_breaks_makes_one_line_of_error(self):
        name = "a\nmemreplay: b\x1b[2J.csv"
        for content in ("op,id,size\nf,1,\n", "", None, "op,id,size\na,\x1b[31m\n"):
            if content is not None:
                (self.folder / name).write_text(content)
            for command in ("info", "explain", "verify", "replay"):
                printed, error = self.piped(command, name)
                self.assertEqual(printed, "")
                self.assertRegex(error, r"^memreplay: a\\x0amemreplay: b\\x1b\[2J\.csv[^\n]*\n$")
            (self.folder / name).unlink(missing_ok=True)
        error = self.piped("replay", name, "-s", "bfc:a\nb=1")[1]
        self.assertEqual(error.count("\n"), 1, error)

    def test_data_that_no_terminal_reads_stay_as_they_are(self):
        (self.folder / "é.csv").write_text("op,id,size\na,0,100\n")
        table = self.piped("compare", "é.csv", "-s", "torch", "--csv", LC_ALL="C")[0]
        self.assertIn("é.csv", table)
        self.assertEqual(json.loads(self.piped("info", "é.csv", "--json", LC_ALL="C")[0])["trace"]["path"], "é.csv")

    def test_a_locale_without_utf8_gets_ascii(self):
        (self.folder / "é…≈.csv").write_text("op,id,size,tag\na,0,100,µ\nf,0,,\n")
        forms = [["info", OOM], ["info", "é…≈.csv"], ["explain", OOM], ["explain", "é…≈.csv"], ["explain", WARM],
                 ["compare", OOM, "-s", "recorded", "-s", "bfc"], ["compare", WARM, "-s", "recorded", "-s", "bfc"],
                 ["tune", OOM, "--runs", "20"], ["fit", WARM], ["replay", "é…≈.csv", "--plot", "always"],
                 ["compare", "é…≈.csv", "--markdown"], ["list", "strategies"], ["list", "formats"],
                 ["list", "metrics"], ["list", "cards"], ["help", "replay"], ["missing…"],
                 ["diff", WARM, OOM], ["verify", OOM], ["lint", "no…:1"], ["info", "…"]]
        for arguments in forms:
            for changes in ({"LC_ALL": "C"}, {"LC_ALL": "", "LC_CTYPE": "POSIX", "LANG": "C.UTF-8"},
                            {"LC_ALL": "", "LANG": ""}):
                with self.subTest(arguments=arguments, locale=changes):
                    self.assertTrue("".join(self.piped(*arguments, **changes)).isascii())
        self.assertIn("\\u00e9...~.csv", self.piped("info", "é…≈.csv", LC_ALL="C")[0])
        self.assertIn("é…≈.csv", self.piped("info", "é…≈.csv", LC_ALL="", LC_CTYPE="de_DE.utf8", LANG="C")[0])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
