#!/usr/bin/env python3
"""Asks the program for the browser what the command line is asked, over every bundled trace: each answer is the same,
byte for byte, but for how long it took.

Usage: answers_test.py PROGRAM PROGRAM.wasm
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted(path.relative_to(ROOT) for path in (ROOT / "traces").rglob("*")
                if path.suffix in (".csv", ".json", ".pickle", ".gz") and path.name != "memory.json")
PROGRAM, WASM = None, None
# One thread here, too: how many replays a search leaves out depends on how many run at once.
QUESTIONS = (("info",), ("verify",), ("explain",), ("tune", "--runs", "200", "--threads", "1"), ("fit",), ("compare",),
             ("suggest", "--budget", "4GiB"), ("plan", "--threads", "1"), ("lint",), ("report",))


def without_seconds(text):
    """Leaves out what is measured."""
    text = re.sub(r'"timing": \{[^{}]*(\{[^{}]*\}[^{}]*)*\}', '"timing": {}', text)
    return re.sub(r'"(seconds|replay_seconds)": [\d.e+-]+', r'"\1": 0', text)


def without_progress(notes):
    """Leaves out what a terminal shows for a while: here standard error is one for the program in the browser."""
    return re.sub(r"\r\x1b\[K[^\r\n]*(?=\r)|\r\x1b\[K", "", notes)


def words_of(question, trace):
    command, *options = question
    if command == "report":
        return [command, str(trace), *options, "-o", "page.html"]
    return [command, *[str(trace)] * (trace is not None), *options, "--json"]


def by_command_line(words):
    done = subprocess.run([PROGRAM, *words[:-1], "-"] if words[0] == "report" else [PROGRAM, *words], cwd=ROOT, check=False,
                          capture_output=True, text=True, env={"LANG": "C.UTF-8"})
    return {"status": done.returncode, "text": done.stdout, "notes": done.stderr}


class Answers(unittest.TestCase):
    def test_each_answer_is_that_of_the_command_line(self):
        jobs = [(question, trace) for trace in TRACES for question in QUESTIONS] + [(("list", "schema"), None)]
        asked = [{"args": words_of(question, trace), "files": {str(trace): str(ROOT / trace)} if trace else {},
                  "outputs": ["page.html"]} for question, trace in jobs]
        done = subprocess.run(["node", "--max-old-space-size=4096", pathlib.Path(__file__).with_name("run.mjs"), WASM, ROOT / "apps/web"],
                              input=json.dumps(asked), check=True, capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), len(jobs))
        for (question, trace), job, answer in zip(jobs, asked, answers):
            with self.subTest(question=question, trace=str(trace)):
                real = by_command_line(job["args"])
                text = answer["outputs"].get("page.html", answer["text"])
                self.assertEqual(answer["status"], real["status"], answer["notes"])
                self.assertEqual(without_progress(answer["notes"]), real["notes"])
                self.assertEqual(without_seconds(text), without_seconds(real["text"]))
        print(f"{len(jobs)} answers")


if __name__ == "__main__":
    PROGRAM, WASM = map(pathlib.Path, sys.argv[1:3])
    PROGRAM = PROGRAM.resolve()
    unittest.main(argv=sys.argv[:1])
