"""memreplay mcp: 20 recordings and texts whose cause is known, each found in one call, and what clients get wrong.

Usage: mcp_test.py PROGRAM [--library]

--library asks through the client library `mcp`, which is installed into a fresh environment; skipped without an index.
What lies in ../shared/corpus is left out where that is not there.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared/corpus"
PROGRAM = ""
MOST_TOKENS = 2000
CHARACTERS_OF_A_TOKEN = 2.3  # of tables, where they are short
# Tool, file, further arguments, what the answer says.
CAUSES = [
    ("explain", "traces/torch/gpt_train_oom.pickle", {}, r"^Fragmentation: the 759 MiB request"),
    ("tune", "traces/torch/gpt_train_oom.pickle", {"seconds": 5}, r"export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
    ("fit", "traces/torch/gpt_step.pickle.gz", {"cards": "T4"}, r"T4"),
    ("explain", "traces/torch/pools_kept_whole.pickle", {}, r"^Fragmentation: the 92.7 MiB request"),
    ("fit", "traces/torch/pools_kept_whole.pickle", {}, r"recorded +1584 MiB"),
    ("explain", "traces/torch/seq_growth.pickle", {}, r"the device was full 12 times"),
    ("explain", "traces/torch/side_streams.pickle", {}, r"26\.2 MiB wait for another"),
    ("compare", "traces/torch/expandable.pickle", {"settings": ["expandable_segments:True"]}, r"420 MiB"),
    ("info", "traces/torch/warm_ring.pickle", {}, r"after 38 blocks .* the ring\s+was full"),
    ("explain", "traces/torch/gpt_step.pickle.gz", {"capacity": "900MiB"}, r"out of memory"),
    ("explain", "corpus/texts/message-colours.txt", {}, r"^Fragmentation: the 96 MiB request"),
    ("explain", "corpus/texts/message-processes.txt", {}, r"^Outside: process 900 holds 41\.5 GiB"),
    ("explain", "corpus/texts/vllm.txt", {}, r"vLLM has nothing left for the KV cache"),
    ("explain", "corpus/texts/ort.txt", {}, r"ONNX Runtime's arena could not serve 1536 MiB"),
    ("explain", "corpus/texts/llama.txt", {}, r"Device 0 refused one buffer of 21 GiB"),
    ("explain", "corpus/texts/host.txt", {}, r"32 GiB of host memory were refused"),
    ("explain", "corpus/torch/oom_recover-s1-c7000.default.pickle", {}, r"^Shortage: .* exceed the device by 408 MiB"),
    ("explain", "corpus/torch/frag-s1-c16000.default.pickle", {}, r"the device was full 1 time"),
    ("compare", "corpus/torch/evaltrain_gpt-s1-c7492.default.pickle", {"settings": ["expandable_segments:True"]},
     r"torch:expandable_segments=True"),
    ("explain", "corpus/torch/frag-s1-c19000.default.pickle", {}, r"live peak|out of memory"),
]


def path_of(name):
    return CORPUS / name.removeprefix("corpus/") if name.startswith("corpus/") else ROOT / name


def causes():
    for tool, name, arguments, pattern in CAUSES:
        if path_of(name).exists():
            yield tool, {"trace": str(path_of(name)), **arguments}, pattern


def folders():
    return [str(folder) for folder in (ROOT / "traces", CORPUS) if folder.is_dir()]


class Server:
    """The program, asked by lines."""

    def __init__(self, *arguments, cwd=ROOT):
        self.process = subprocess.Popen([PROGRAM, "mcp", *arguments], cwd=cwd, text=True, encoding="utf-8",
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.status = self.process.wait()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, method, **parameters):
        self.number += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}))
        answer = json.loads(self.process.stdout.readline())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        [content] = result["content"]
        return content["text"], result["isError"]


class Mcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_each_cause_is_found_in_one_call(self):
        with Server(*folders()) as server:
            for tool, arguments, pattern in causes():
                with self.subTest(tool=tool, trace=arguments["trace"]):
                    text, error = server.call(tool, **arguments)
                    self.assertFalse(error, text)
                    self.assertRegex(text, re.compile(pattern, re.MULTILINE | re.DOTALL))
                    self.assertLess(len(text) / CHARACTERS_OF_A_TOKEN, MOST_TOKENS)
        self.assertEqual(server.status, 0)

    def test_it_says_what_it_is_and_what_can_be_asked(self):
        with Server() as server:
            for asked, given in (("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")):
                result = server.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})["result"]
                self.assertEqual(result["protocolVersion"], given)
                self.assertEqual(result["serverInfo"]["name"], "memreplay")
            server.say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
            self.assertEqual(server.ask("ping")["result"], {})
            tools = server.ask("tools/list")["result"]["tools"]
        self.assertEqual({tool["name"] for tool in tools}, {"explain", "tune", "fit", "suggest", "compare", "ranks", "info"})
        for tool in tools:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertLessEqual(set(tool["inputSchema"]["required"]), set(tool["inputSchema"]["properties"]))

    def test_a_command_that_an_answer_names_is_a_tool_or_is_said_to_be_for_a_shell(self):
        with Server(str(ROOT / "traces")) as server:
            tools = {tool["name"] for tool in server.ask("tools/list")["result"]["tools"]}
            for tool, name in (("explain", "gpt_train_oom"), ("compare", "gpt_train_oom"), ("suggest", "gpt_train_oom"),
                               ("tune", "gpt_train_oom"), ("info", "warm_ring")):
                with self.subTest(tool=tool):
                    text, _ = server.call(tool, trace=str(ROOT / f"traces/torch/{name}.pickle"))
                    answer, _, note = text.partition("(For a shell, no tool here: ")
                    named = set(re.findall(r"^ *memreplay (\w+)", answer, re.MULTILINE))
                    self.assertLessEqual(named - tools, set(re.findall(r"memreplay (\w+)", note)))
            self.assertIn("memreplay fit --vary", server.call("explain", trace=str(
                ROOT / "traces/torch/gpt_train_oom.pickle"))[0].partition("(For a shell")[2])

    def test_what_is_no_request_is_refused_by_the_code_for_it(self):
        with Server() as server:
            nested = f'{{"id":1,"method":"ping","params":{"[" * 200_000}{"]" * 200_000}}}'
            for line, code in (("{", -32700), ("[1]", -32600), ('{"id":1}', -32600), (nested, -32600)):
                server.say(line)
                self.assertEqual(json.loads(server.process.stdout.readline())["error"]["code"], code)
            for line, named in (('{"id":18446744073709551616,"method":"ping"}', None), ('{"id":true,"method":"ping"}', None),
                                ('{"id":1.5,"method":"ping"}', None), ('{"id":7}', 7)):
                server.say(line)
                answer = json.loads(server.process.stdout.readline())
                self.assertEqual((answer["error"]["code"], answer["id"]), (-32600, named))
            server.say('{"id":18446744073709551615,"method":"ping"}')
            self.assertEqual(json.loads(server.process.stdout.readline())["id"], 2 ** 64 - 1)
            self.assertEqual(server.ask("resources/list")["error"]["code"], -32601)
            self.assertEqual(server.ask("tools/call", name="rm")["error"]["code"], -32602)
            self.assertEqual(server.ask("tools/call", name="info", arguments=[1])["error"]["code"], -32602)
            self.assertEqual(server.ask("tools/call", name=5)["error"]["code"], -32602)

    def test_wrong_arguments_are_said(self):
        with Server(str(ROOT / "traces")) as server:
            trace = str(ROOT / "traces/leak.csv")
            for arguments, said in (({}, "trace is missing"), ({"trace": 5}, "expected a text"),
                                    ({"trace": trace, "strategies": ["malloc:lib=x.so"]}, "no parameter strategies"),
                                    ({"trace": trace, "settings": "a"}, "a list of texts"),
                                    ({"trace": trace, "capacity": "much"}, "--capacity"),
                                    ({"trace": trace, "capacity": "1GiB --placements=/tmp/x"}, "--capacity")):
                text, error = server.call("compare", **arguments)
                self.assertTrue(error)
                self.assertIn(said, text)

    def test_files_come_from_the_allowed_folders_alone(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "in").mkdir()
            (folder / "in/run.csv").write_text("op,id,size\na,0,5\n")
            (folder / "secret.csv").write_text("op,id,size\na,0,7\n")
            (folder / "in/link.csv").symlink_to(folder / "secret.csv")
            with Server("in", cwd=folder) as server:
                self.assertFalse(server.call("info", trace="run.csv")[1])
                for outside in ("../secret.csv", str(folder / "secret.csv"), "link.csv", "/etc/passwd", "none.csv", "-", ""):
                    text, error = server.call("info", trace=outside)
                    self.assertTrue(error, outside)
                    self.assertIn("is no file in", text)
                text, error = server.call("ranks", folder=".")
                self.assertTrue(error)
                self.assertIn("leads out of", text)

    def test_a_folder_that_is_none_is_refused(self):
        done = subprocess.run([PROGRAM, "mcp", "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a folder", done.stderr)


    def test_no_text_is_longer_than_promised(self):
        settings = [f"max_split_size_mb:{size}" for size in range(21, 121)]
        (self.folder / "long.txt").write_text("CUDA out of memory. Tried to allocate 2.26 GiB " + "x" * 100_000 + "\n")
        (self.folder / "named.csv").write_text(f"op,id,size,tag\na,0,100,{'y' * 50_000}\n")
        (self.folder / "wrong.csv").write_text(f"op,id,size\na,0,{'z' * 50_000}\n")
        trace = str(ROOT / "traces/torch/gpt_train_oom.pickle")
        with Server(str(self.folder), str(ROOT / "traces")) as server:
            for tool, arguments in (("compare", {"trace": trace, "settings": settings}), ("tune", {"trace": trace, "seconds": "x" * 20_000}),
                                    ("explain", {"trace": trace, "capacity": "9" * 20_000}), ("explain", {"trace": "x" * 100_000}),
                                    ("explain", {"trace": "long.txt"}), ("explain", {"trace": "named.csv"}),
                                    ("info", {"trace": "wrong.csv"}), ("info", {"trace": trace, "é" * 50_000: 1})):
                text, _ = server.call(tool, **arguments)
                self.assertLessEqual(len(text), 4500)
                self.assertGreater(len(text), 40)  # no line eats the others
            for request in ({"method": "x" * 100_000}, {"method": "tools/call", "params": {"name": "x" * 100_000}}):
                server.say(json.dumps({"jsonrpc": "2.0", "id": 1, **request}))
                self.assertLessEqual(len(json.loads(server.process.stdout.readline())["error"]["message"]), 1000)

    def test_a_request_longer_than_a_mebibyte_is_refused_and_the_next_one_answered(self):
        with Server() as server:
            server.say("[" * (3 << 20))
            self.assertEqual(json.loads(server.process.stdout.readline())["error"],
                             {"code": -32600, "message": "longer than 1 MiB"})
            self.assertEqual(server.ask("ping")["result"], {})

    def test_no_error_is_that_of_a_library(self):
        with Server(str(self.folder)) as server:
            for parameters in ({"name": 5}, {"name": "info", "arguments": [1]}, {"name": ["info"]}, [], 5, None, "x"):
                server.say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}))
                message = json.loads(server.process.stdout.readline())["error"]["message"]
                self.assertNotRegex(message, r"json\.exception|filesystem|basic_|std::|type_error")
                self.assertRegex(message, "is not an object|is not a text|no tool")
            server.say('{"id":1,"method":"initialize","params":{"protocolVersion":1}}')
            self.assertIn("is not a text", server.process.stdout.readline())
            server.say('{"id":[1],"method":"ping"}')
            self.assertEqual(json.loads(server.process.stdout.readline())["error"]["code"], -32600)

    def test_a_name_with_a_zero_names_nothing(self):
        (self.folder / "run.csv").write_text("op,id,size\na,0,5\n")
        with Server(str(self.folder)) as server:
            for name in ("run.csv\0", "run.csv\0.txt", "\0run.csv"):
                text, error = server.call("info", trace=name)
                self.assertTrue(error)
                self.assertIn("\\x00", text)
            text, error = server.call("info", trace="run.csv", **{"a\0b": 1})
            self.assertTrue(error)

    def test_a_request_can_be_cancelled_while_it_is_worked_on_and_while_it_waits(self):
        trace = str(self.folder / "long.csv")  # a replay takes a good part of a second, and there are hundreds
        subprocess.run([PROGRAM, "generate", "random", trace, "--events", "400000", "--live", "4000", "--seed", "1"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with Server(str(self.folder)) as server:
            begun = time.monotonic()
            for number in (71, "seventy-two"):
                server.say(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                                       "params": {"name": "tune", "arguments": {"trace": trace, "seconds": 1000}}}))
            time.sleep(1)
            for number in ("seventy-two", 71, 5, None):
                server.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}))
            self.assertEqual(server.ask("ping")["result"], {})  # the next line is its answer: there is none before
            self.assertLess(time.monotonic() - begun, 100)
        self.assertEqual(server.status, 0)

    def test_all_that_was_asked_is_answered_when_the_client_writes_no_more(self):
        asked = "".join(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) + "\n" for number in range(3000))
        done = subprocess.run([PROGRAM, "mcp"], input=asked, capture_output=True, text=True, check=True, cwd=ROOT)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], list(range(3000)))


THROUGH_LIBRARY = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    program, *folders = sys.argv[1:]
    async with stdio_client(StdioServerParameters(command=program, args=["mcp", *folders])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            print(json.dumps([tool.name for tool in (await session.list_tools()).tools]), flush=True)
            for tool, arguments in json.load(sys.stdin):
                result = await session.call_tool(tool, arguments)
                print(json.dumps(result.content[0].text), flush=True)

asyncio.run(main())
"""


def through_library():
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        if subprocess.run([f"{folder}/bin/pip", "install", "-q", "mcp"], check=False).returncode:
            print("skipped: no index with mcp is reached")
            return 0
        asked = list(causes())
        done = subprocess.run([f"{folder}/bin/python", "-c", THROUGH_LIBRARY, PROGRAM, *folders()], text=True, check=True,
                              input=json.dumps([one[:2] for one in asked]), stdout=subprocess.PIPE, env=os.environ)
        tools, *texts = [json.loads(line) for line in done.stdout.splitlines()]
        wrong = [one for one, text in zip(asked, texts, strict=True)
                 if not re.search(one[2], text, re.MULTILINE | re.DOTALL)]
        print(f"{len(tools)} tools, {len(asked) - len(wrong)} of {len(asked)} causes found")
        for one in wrong:
            print(*one)
        return 1 if wrong else 0


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--library" in sys.argv:
        sys.exit(through_library())
    unittest.main()
