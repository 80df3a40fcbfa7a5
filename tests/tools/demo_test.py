"""The README shows what tools/demo ends with; while it builds it says that it lives; a program that is given is run."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sourced(script):
    """What a script prints that has tools/build.sh's functions, its output being no terminal."""
    return subprocess.run(["bash", "-c", f"set -euo pipefail; source tools/build.sh; {script}"], cwd=ROOT,
                          capture_output=True, text=True, check=False)


def demo(*arguments, **environment):
    return subprocess.run([ROOT / "tools" / "demo", *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


class Demo(unittest.TestCase):
    def test_a_program_that_is_given_is_run_and_none_built(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "any name")
            program.write_text('#!/bin/sh\nls "$2"; echo "$@"\n', encoding="ascii")
            program.chmod(0o755)
            for done in (demo(program), demo(MEMREPLAY=str(program))):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                shown, answered = done.stdout.lstrip("\n").split("\n", 1)
                trace = "traces/torch/seq_growth.pickle"
                self.assertTrue(shown.startswith(f"$ memreplay compare {trace} "))
                self.assertEqual(answered, f"{trace}\n{shown.removeprefix('$ memreplay ')}\n")

    def test_what_is_no_program_is_refused(self):
        done = demo("no/such/memreplay")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no/such/memreplay is no program; expected", done.stderr)

    def test_the_readme_shows_its_command(self):
        demo = (ROOT / "tools" / "demo").read_text(encoding="utf-8")
        command = " ".join(re.search(r"^command=\((.*?)\)", demo, re.MULTILINE | re.DOTALL).group(1).split())
        self.assertIn(f"$ {command}", (ROOT / "README.md").read_text(encoding="utf-8").splitlines())

    def test_a_long_build_into_a_pipe_says_how_far_it_is(self):
        ninja = "echo '[7/252] Building a.o'; echo '[8/252] Building b.o'; sleep 2.5; echo '[9/252] Linking'"
        self.assertEqual(sourced(f"({ninja}) | progress 2").stdout, "  8 of 252 files\n")

    def test_a_short_build_into_a_pipe_says_nothing(self):
        done = sourced("build_telling echo '[1/1] Linking'")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_of_a_build_that_fails_everything_is_shown(self):
        failed = sourced("build_telling bash -c 'echo [1/2] a.o; echo a.cpp:1: error >&2; exit 1'")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("[1/2] a.o\na.cpp:1: error\nfailed: bash", failed.stderr)


if __name__ == "__main__":
    unittest.main()
