"""An .mrt gives the same answers where its events stay in it.

Usage: mrt_test.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = 300_000  # events: so many are left in their file
UNLIKE = ("timing", "path", "file_bytes")
PROGRAM = ""


def memreplay(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, check=False)


def likeness(value):
    if isinstance(value, dict):
        return {key: likeness(part) for key, part in value.items() if key not in UNLIKE}
    return [likeness(part) for part in value] if isinstance(value, list) else value


def answer(command, trace, *options, given=None):
    """The JSON, without what no two runs or files share."""
    result = subprocess.run([PROGRAM, command, str(trace), *options, "--json", "-q"],
                            cwd=ROOT, input=given, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    return likeness(json.loads(result.stdout.decode().replace(f"tune {trace}", "tune TRACE")))


class Mrt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.held.name)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def test_events_left_in_their_file_give_the_same_answers(self):
        left = self.folder / "long.mrt"
        self.assertEqual(memreplay("generate", "random", left, "--events", LONG, "--live", 300).returncode, 0)
        held = left.read_bytes()
        for command in (["info"], ["replay", "-s", "torch", "--to", "280000"],
                        ["replay", "-s", "buddy", "--capacity", "1GiB", "--from", "200000"],
                        ["tune", "--runs", "2", "--threads", "2", "--capacity", "2GiB"],
                        ["fit", "-s", "direct"]):
            with self.subTest(command=command):
                self.assertEqual(answer(command[0], left, *command[1:]),
                                 answer(command[0], "-", *command[1:], given=held))

    def test_a_long_csv_is_converted_as_it_is_read(self):
        rows = [f"a,{i},{100 + i % 77},{i * 3}\n" + (f"f,{i - 5},,{i * 3 + 1}\n" if i > 4 else "") for i in range(500_000)]
        table = self.folder / "long.csv"
        table.write_text("op,id,size,time_us\n" + "".join(rows), encoding="ascii")
        streamed, held = self.folder / "streamed.mrt", self.folder / "held.mrt"
        self.assertEqual(memreplay("convert", table, streamed).stderr, "")
        with table.open("rb") as piped:
            subprocess.run([PROGRAM, "convert", "-", held], stdin=piped, check=True)
        self.assertEqual(streamed.read_bytes(), held.read_bytes())
        for command in (["info"], ["replay", "-s", "torch", "--from", "1s", "--to", "1.5s"]):
            with self.subTest(command=command):
                self.assertEqual(answer(command[0], streamed, *command[1:]),
                                 answer(command[0], "-", *command[1:], given=held.read_bytes()))

    def test_damage_is_told_by_every_command(self):
        damaged = self.folder / "damaged.mrt"
        self.assertEqual(memreplay("generate", "random", damaged, "--events", LONG).returncode, 0)
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 4
        damaged.write_bytes(content)
        for command in (["info"], ["replay", "-s", "torch"], ["explain"]):
            with self.subTest(command=command):
                result = memreplay(command[0], damaged, *command[1:])
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr, r"^memreplay: \S*damaged.mrt: block \d+: is damaged: its checksum is wrong\n$")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
