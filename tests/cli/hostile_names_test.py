"""Names that want to be more than names, through every output: what takes them reads names, and nothing else.

Usage: hostile_names_test.py PROGRAM
"""
import csv
import gzip
import html.parser
import io
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
import xml.dom.minidom

PROGRAM = ""
NAMES = [
    "::stop-commands::pause", "a" + " ::set-env name=PATH::/b" * 40, "##[add-mask]a", "##vso[task.setvariable variable=a]b",
    "%0A::error::a", "\u2003::warning::a", "a\n::error::b\r\n  ::error::c\r::d", "\x1b]0;gone\x07\x1b[31m\x08", "\u009b31m\u0085",
    "\u202eabc\u2066", "\uffff\ufffe\ufdd0\ufdd1\ufdd2", "\ufeffa\u2028b", "<script>alert(1)</script>", "</script><!--<title>",
    "\"'>&lt;<img src=a onerror=b>", "[a](javascript:b) ![c](http://d/e.png) <details>", "`a` **b** __c__ ~~d~~ $e$ |f| \\|g|",
    "# a", "- a", "1. a", "@owner #12 GH-1 www.a.org https://b.org", "a,\"b\"\n=1+1", "=HYPERLINK(\"a\")", "\"}],\\u0000", "{rank} {n} {}",
    "--json=a", "-o", "é…\U0001f600 \u0301", "", "x" * 3000, "a;b;c", "$(touch a) `touch b`", "'; touch c; '",
]
BYTES = [name.encode("utf-8", "surrogatepass") for name in NAMES if name] + [b"\xff\xe9", b"caf\xe9", b"caf\xe8", b"\xed\xa0\x80", b"\xc3"]
# What a file's name may be too: no slash, no zero, not too long.
FILES = [name for name in BYTES if b"/" not in name and len(name) < 200]
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufdd0-\ufdef\ufffe\uffff]")
ANNOTATION = re.compile(r"::error (file=([^:,%\r\n]|%(25|0D|0A|3A|2C))+,line=\d+,)?title=([^:,%\r\n]|%(25|0D|0A|3A|2C))+::([^%\r\n]|%(25|0D|0A))+$")


def rows(scale):
    """CSV of a program whose tags are the names; `scale` grows what they hold."""
    out = io.BytesIO()
    out.write(b"op,id,size,tag\n")
    for number, name in enumerate(BYTES):
        out.write(b"a,%d,%d,\"%s\"\n" % (number, scale * (number + 1) << 20, name.replace(b'"', b'""')))
    return out.getvalue()


def snapshot():
    """A snapshot that runs out of memory, whose functions, files, phases and settings are the names."""
    address, entries, blocks = 0x7F0000000000, [], []
    size = 20 << 20
    for number, name in enumerate(NAMES):
        at = address + number * size
        frames = [{"filename": f"/home/me/{name}.py", "line": number, "name": name}]
        entries += [{"action": "segment_alloc", "addr": at, "size": size, "stream": 0, "frames": frames},
                    {"action": "alloc", "addr": at, "size": size, "stream": 0, "frames": frames}]
        blocks.append({"address": at, "total_size": size, "stream": 0, "segment_type": "large", "device": 0, "allocated_size": size,
                       "active_size": size, "requested_size": size, "frames": [],
                       "blocks": [{"address": at, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}]})
    entries.append({"action": "oom", "addr": 1 << 20, "size": size, "stream": 0, "frames": entries[0]["frames"], "device_free": 1 << 20})
    phases = [{"stage": stage, "name": name, "device": 0, "time_us": 0} for name in NAMES for stage in ("START", "END")]
    return {"segments": blocks, "device_traces": [entries], "external_annotations": phases,
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128," + NAMES[0]}}


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.attributes = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes |= {name for name, _ in attrs}


class HostileNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        (cls.folder / "tags.csv").write_bytes(rows(1))
        (cls.folder / "frames.pickle").write_bytes(pickle.dumps(snapshot()))
        (cls.folder / "files").mkdir()
        for name in FILES:
            (cls.folder / "files" / os.fsdecode(name + b".csv")).write_bytes(b"op,id,size,tag\na,0,100,a\nf,0,,\n")
        cls.before = cls.listing()

    @classmethod
    def listing(cls):
        return sorted(os.fsencode(path) for path in cls.folder.rglob("*"))

    def program(self, *arguments, cwd="", **options):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder / cwd, capture_output=True, check=False, timeout=120,
                              stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", "GITHUB_ACTIONS": "true"}, **options)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return done

    def assert_plain(self, text, colours=False):
        """No control character, nothing that a runner takes for a command."""
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        if colours:
            text = re.sub("\x1b\\[(0|1|31)m", "", text)
        self.assertEqual(CONTROLS.findall(text), [])
        for line in text.split("\n"):
            self.assertFalse(line.strip().startswith("::"), line)
            self.assertNotRegex(line, r"##(vso|teamcity)?\[")

    def assert_markdown(self, text):
        """Outside of code nothing is a mark but our own emphasis; each row has the cells of its heading."""
        self.assert_plain(text)
        columns = 0
        for line in text.decode("utf-8").split("\n"):
            bare = re.sub(r"\\[!-/:-@\[-`{-~]", "%", line)
            is_row = bare.startswith("|")
            if is_row:
                cells = len(re.sub(r"\\.", "", line).split("|"))
                columns = columns or cells
                self.assertEqual(cells, columns, line)
            else:
                columns = 0
            bare = re.sub(r"`[^`]*`", "%", bare).replace("**over**", "").replace("**memreplay check**", "")
            self.assertNotRegex(bare, r"[<`*\[~$]|(?<![a-z0-9])_|_(?![a-z0-9])|@\w|#\w|://|\bwww\.", line)
            if not is_row:
                self.assertNotRegex(bare, r"^\s*(#|>|\+|\d+[.)] )")

    RECORDINGS = "tags.csv", "frames.pickle"
    COMMANDS = (["info"], ["explain"], ["explain", "--tree"], ["explain", "--by-phase"], ["replay", "-s", "torch", "--capacity", "600MiB"],
                ["compare", "-s", "torch", "-s", "bfc"], ["tune", "--runs", "5"], ["fit"], ["verify"], ["lint"], ["stress", "--step", "5"])

    def test_text(self):
        for name in self.RECORDINGS:
            for command in self.COMMANDS:
                with self.subTest(command=command, name=name):
                    done = self.program(*command, name)
                    self.assert_plain(done.stdout)
                    self.assert_plain(done.stderr)
        self.assert_plain(self.program("diff", "tags.csv", "frames.pickle").stdout)
        self.assert_plain(self.program("ranks", "files").stdout)

    def test_text_of_files(self):
        for name in FILES:
            path = b"./" + name + b".csv"
            for command in (["info"], ["explain"], ["replay", "-s", "torch"], ["verify"]):
                done = self.program(*command, path, cwd="files")
                self.assert_plain(done.stdout)
                self.assert_plain(done.stderr)
            done = self.program("info", b"./none" + name, cwd="files")
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assert_plain(done.stderr)

    def test_terminal(self):
        forms = [["explain", "frames.pickle", "--color", "always"], ["info", "tags.csv"], ["ranks", "files"],
                 ["explain", "tags.csv", "--csv"], ["explain", "frames.pickle", "--json"], ["explain", "tags.csv", "--collapsed"],
                 ["check", "tags.csv", "--baseline", "none.json", "--junit", "-"]]
        for arguments in forms:
            ours, theirs = pty.openpty()
            with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                  env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}):
                os.close(theirs)
                shown = b""
                try:
                    while part := os.read(ours, 65536):
                        shown += part
                except OSError:
                    pass
                os.close(ours)
            text = shown.decode("utf-8").replace("\r\n", "\n").replace("\r\x1b[K", "")
            with self.subTest(arguments=arguments):
                self.assert_plain(text, colours=True)
                self.assertFalse(re.search("\x1b\\[(1|31)m(?!.*\x1b\\[0m)", text, re.DOTALL))  # none stays

    def test_json(self):
        for name in self.RECORDINGS:
            for command in self.COMMANDS:
                done = self.program(*command, name, "--json")
                if done.stdout:
                    json.loads(done.stdout.decode("utf-8"))
        explained = json.loads(self.program("explain", "tags.csv", "--json", "--top", "100").stdout)
        places = {place["place"] for place in explained["live"]} if "live" in explained else set()
        told = json.dumps(explained)
        for name in ("<script>alert(1)</script>", "=HYPERLINK(\"a\")"):
            self.assertTrue(name in places or json.dumps(name)[1:-1] in told, name)

    def test_csv(self):
        for name in self.RECORDINGS:
            for command in self.COMMANDS:
                done = self.program(*command, name, "--csv")
                table = list(csv.reader(io.StringIO(done.stdout.decode("utf-8"), newline="")))
                self.assertEqual({len(row) for row in table[1:]} - {len(table[0])} if table else set(), set(), command)
        table = list(csv.DictReader(io.StringIO(self.program("explain", "tags.csv", "--csv").stdout.decode("utf-8"), newline="")))
        self.assertLessEqual({name for name in NAMES if name}, {row["place"] for row in table})

    def test_markdown_and_summaries(self):
        for name in self.RECORDINGS:
            for command in self.COMMANDS:
                with self.subTest(command=command, name=name):
                    self.assert_markdown(self.program(*command, name, "--markdown").stdout)
        self.assert_markdown(self.program("diff", "tags.csv", "frames.pickle", "--markdown").stdout)

    def test_check(self):
        """Baselines, annotations and the text beside them, JUnit, the summary, and what other services read."""
        baseline = self.folder / "memory.json"
        (self.folder / "grown.csv").write_bytes(rows(1))
        update = ["check", "grown.csv", "--baseline", "memory.json", "--update", "-q"]
        self.assertEqual(self.program(*update).returncode, 0)
        json.loads(baseline.read_bytes().decode("utf-8"))
        self.assertEqual(self.program("check", "grown.csv", "--baseline", "memory.json").returncode, 0)
        (self.folder / "grown.csv").write_bytes(rows(3))
        files = {option: self.folder / f"out-{option}" for option in ("junit", "bencher", "benchmark-action", "oss-benchmark", "markdown")}
        done = self.program("check", "grown.csv", "--baseline", "memory.json", "--github", "-",
                            *(f"--{option}={file}" for option, file in files.items()))
        self.assertEqual(done.returncode, 1)
        annotations = [line for line in done.stdout.decode("utf-8").split("\n") if line.startswith("::error ")]
        self.assertTrue(annotations)
        for line in annotations:
            self.assertRegex(line, ANNOTATION)
            self.assertEqual(CONTROLS.findall(line), [])
        self.assert_plain("\n".join(line for line in done.stdout.decode("utf-8").split("\n") if line not in annotations))
        self.assertIn("grew since the baseline", done.stdout.decode("utf-8"))
        xml.dom.minidom.parseString(files["junit"].read_bytes())
        self.assert_markdown(files["markdown"].read_bytes())
        for option in ("bencher", "benchmark-action", "oss-benchmark"):
            json.loads(files[option].read_bytes().decode("utf-8"))
        for file in (baseline, self.folder / "grown.csv", *files.values()):
            file.unlink()

    def test_check_of_files(self):
        paths = [b"./" + name + b".csv" for name in FILES]
        self.assertEqual(self.program("check", *paths, "--baseline", "../b.json", "--update", "-q", cwd="files").returncode, 0)
        kept = json.loads((self.folder / "b.json").read_bytes().decode("utf-8"))["entries"]
        self.assertEqual(len({entry["trace"] for entry in kept}), len(FILES))
        done = self.program("check", *paths, "--baseline", "../b.json", "--junit", "../j.xml", "--github", "-", cwd="files")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_plain(done.stdout)
        cases = xml.dom.minidom.parse(str(self.folder / "j.xml")).getElementsByTagName("testcase")
        self.assertEqual(len({case.getAttribute("classname") for case in cases}), len(FILES))
        for name in ("b.json", "j.xml"):
            (self.folder / name).unlink()

    def page(self, *arguments):
        text = self.program(*arguments, "-o", "-").stdout.decode("utf-8")
        self.assertNotIn("\x00", text)
        return Elements(text)

    def test_pages(self):
        (self.folder / "plain.csv").write_text("op,id,size,tag\na,0,100,a\nf,0,,\n")
        for command in (["report"], ["plan"]):
            plain = self.page(*command, "plain.csv")
            for arguments, cwd in ((["tags.csv"], ""), (["frames.pickle"], ""), *(([f"files/{os.fsdecode(name)}.csv"], "") for name in FILES)):
                if command == ["plan"] and arguments == ["frames.pickle"]:
                    continue
                page = self.page(*command, *arguments)
                self.assertEqual(page.found.count("script"), plain.found.count("script"), arguments)
                self.assertLessEqual(set(page.found) - {"h2", "p", "path", "tr", "td", "pre"}, set(plain.found), arguments)
                self.assertEqual({name for name in page.attributes if name.startswith("on")}, set())
        (self.folder / "plain.csv").unlink()

    def test_perfetto_and_profiles(self):
        for name in self.RECORDINGS:
            done = self.program("replay", name, "-s", "torch", "--perfetto", "-", "-q")
            json.loads(done.stdout.decode("utf-8"))
            for line in self.program("explain", name, "--collapsed").stdout.decode("utf-8").split("\n"):
                if line:
                    self.assertRegex(line, r" \d+$")
            gzip.decompress(self.program("explain", name, "--pprof").stdout)

    def test_mcp(self):
        asked = [("explain", {"trace": name}) for name in self.RECORDINGS] + [("info", {"trace": name}) for name in self.RECORDINGS]
        asked += [("info", {"trace": name}) for name in NAMES] + [("explain", {"trace": "tags.csv", "capacity": name}) for name in NAMES]
        asked += [("compare", {"trace": "tags.csv", "settings": [name]}) for name in NAMES] + [(name, {}) for name in NAMES]
        lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
                 for number, (tool, arguments) in enumerate(asked)]
        done = subprocess.run([PROGRAM, "mcp", "."], cwd=self.folder, input="\n".join(lines) + "\n", capture_output=True, text=True,
                              encoding="utf-8", check=True, timeout=120)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["id"] for answer in answers], list(range(len(asked))))
        for answer in answers:
            text = answer["error"]["message"] if "error" in answer else answer["result"]["content"][0]["text"]
            self.assert_plain(text)
            self.assertLessEqual(len(text), 4500)

    def test_nothing_was_written_beside(self):
        """Last by its name in the order of the tests: no name was an option, or a command."""
        for name in FILES:
            self.program("info", "--", name + b".csv", cwd="files")
        self.assertEqual(self.listing(), self.before)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
