#!/usr/bin/env python3
"""Opens the page in the browser in headless Chromium, from a file, and uses it as a person would.

Usage: browser_test.py memreplay.html PROGRAM [SCREENSHOTS]; says "skipped: …" where there is no browser to drive.
"""
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from values import values_in  # noqa: E402
try:
    import chromium
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    chromium = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
OOM = TRACES / "torch" / "gpt_train_oom.pickle"
PAGE, PROGRAM, SCREENSHOTS = None, None, None
MESSAGE = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 760.00 MiB. GPU 0 has a total capacity of 5.10 GiB of which "
           "690.00 MiB is free. Of the allocated memory 4.32 GiB is allocated by PyTorch, and 115.78 MiB is reserved by PyTorch but "
           "unallocated.")


def by_command_line(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True, env={"LANG": "C.UTF-8"})


def text(word):
    return b"\x8c" + bytes([len(word)]) + word.encode() + b"\x94"


def number(value, size):
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little")


def write_snapshot(path, least):
    """A snapshot of at least so many bytes: the same 333 blocks allocated and freed again and again, by twenty frames. Keys
    are written once and then referred to, as pickle does; the first four objects that can be referred to are outer ones."""
    words = ["action", "alloc", "free_requested", "free_completed", "addr", "size", "stream", "time_us", "frames"]
    at = {word: b"h" + bytes([4 + i]) for i, word in enumerate(words)}
    head = (b"\x80\x04}\x94(" + text("segments") + b"]\x94" + text("words") + b"(" + b"".join(map(text, words)) + b"l" + text("frame")
            + b"}\x94(" + text("filename") + text("train.py") + text("name") + text("step") + text("line") + b"K\x07u"
            + text("device_traces") + b"](](")
    frame = b"h" + bytes([4 + len(words) + 1])
    frames = at["frames"] + b"]\x94(" + frame * 20 + b"e"

    def entry(action, block):
        return (b"}\x94(" + at["action"] + at[action] + at["addr"] + number(0x7F0000000000 + (block << 21), 6) + at["size"] + number((block + 1) << 12, 3)
                + at["stream"] + b"K\x00" + at["time_us"] + number(1_760_000_000_000_000, 7) + frames + b"u")

    actions = [entry("alloc", block) for block in range(333)]
    actions += [entry(action, block) for block in range(333) for action in ("free_requested", "free_completed")]
    some = b"".join(actions) + b"e("
    with open(path, "wb") as file:
        file.write(head)
        for _ in range(-(-least // len(some))):
            file.write(some)
        file.write(b"eeu.")


class Evil:
    def __reduce__(self):
        return (print, ("this ran",))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.driver = chromium.started("--hide-scrollbars", logs=["browser", "performance"])

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                                    {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
        self.resize(1400, 1000)
        self.driver.get(PAGE.as_uri())
        self.wait("document.body.dataset.ready === 'loaded'")

    def tearDown(self):
        wrong = [line for line in self.driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(wrong, [])

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def wait(self, condition, seconds=120):
        WebDriverWait(self.driver, seconds).until(lambda driver: driver.execute_script(f"return {condition}"), condition)

    def ask(self, expression):
        return self.driver.execute_script(f"return {expression}")

    def element(self, identity):
        return self.driver.find_element(By.ID, identity)

    def give(self, *paths):
        self.element("chosen").send_keys("\n".join(str(path) for path in paths))

    def answered(self, count=1, seconds=120):
        """Waits until so many questions are answered since the page was opened."""
        self.wait(f"Number(document.body.dataset.answers) >= {count}", seconds)

    def text(self, identity):
        return self.ask(f"byId('{identity}').textContent")

    def screenshot(self, name):
        if SCREENSHOTS:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def said_first(self, *words):
        return " ".join(by_command_line(*words).stdout.strip().split("\n\n")[0].split())

    def test_a_snapshot_is_explained_drawn_and_tuned(self):
        self.give(OOM)
        self.answered()
        self.assertEqual(self.text("verdict"), self.said_first("explain", OOM))
        self.assertIn("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", self.text("best"))
        self.wait("document.body.dataset.drawn")
        self.wait("document.querySelector('iframe').contentDocument.body.dataset.ready === '0-0'")
        # The first picture was there, and made room for the page.
        self.assertEqual(self.ask("document.body.dataset.first"), "1")
        self.assertEqual(self.ask("document.querySelectorAll('#panels img').length"), 0)
        self.assertGreater(self.ask("document.querySelectorAll('#panel-tune tbody tr').length"), 4)
        self.screenshot("wide")
        self.element("tab-tune").click()
        self.screenshot("wide-tune")
        self.element("theme").click()
        self.screenshot("wide-tune-dark")
        self.element("tab-picture").click()
        self.driver.execute_script("return new Promise((done) => setTimeout(done, 500))")
        self.screenshot("wide-dark")
        self.resize(420, 900)
        self.driver.execute_script("return new Promise((done) => setTimeout(done, 500))")
        self.screenshot("narrow-dark")
        self.assertEqual(self.ask("document.documentElement.scrollWidth"), 420)

    def test_every_kind_of_file_is_read(self):
        for count, name in enumerate(("leak.csv", "torch/batch_8.pickle.gz", "torch/warm_ring.pickle", "pinned-steps.csv")):
            with self.subTest(name=name):
                self.give(TRACES / name)
                self.wait(f"byId('files').textContent.startsWith('{pathlib.Path(name).name}')")
                self.answered(count + 1)
                self.assertEqual(self.text("verdict"), self.said_first("explain", TRACES / name))

    def test_ranks_are_compared(self):
        paths = [self.folder / f"rank{rank}.pickle" for rank in range(8)]
        for rank, path in enumerate(paths):
            shutil.copy(TRACES / "torch" / ("layers_5.pickle" if rank == 3 else "layers_4.pickle"), path)
        self.give(*paths)
        self.answered()
        self.assertEqual(self.text("verdict"), self.said_first("ranks", *paths).replace(f"{self.folder}/", ""))
        self.assertTrue(self.ask("!byId('tab-ranks').hidden"))
        self.wait("document.querySelector('iframe').contentDocument.querySelectorAll('#device option').length === 8")
        self.screenshot("ranks")

    def test_no_name_is_an_option_or_an_output(self):
        plain = TRACES / "fragmentation.csv"
        for count, name in enumerate(("-o", "--help", "--capacity=1MiB", "page.html", "first.svg", "answer.json"), 1):
            path = self.folder / name
            path.write_bytes(plain.read_bytes())
            self.give(path)
            self.answered(count)
            self.assertEqual(self.text("verdict"), self.said_first("explain", plain), name)
            self.wait("!document.querySelector('#panels .first') && document.querySelector('#panels iframe')")

    def test_paths_are_apart_and_shown_as_they_are(self):
        self.assertEqual(self.ask("withPaths([{path:'a'},{path:'2/a'},{path:'a'}]).map((one) => one.path)"), ["a", "2/a", "2/2/a"])
        self.assertEqual(self.ask("withPaths([{path:'/r/rank1/s'},{path:'../r/rank0/s'}]).map((one) => one.path)"), ["r/rank1/s", "r/rank0/s"])
        self.assertEqual(self.ask("visible('a\\u202eb\\n')"), "a\\u202eb\\u000a")

    def test_a_wrong_device_takes_nothing_away(self):
        self.give(OOM)
        self.answered()
        for count, device in enumerate(("24Gi", "24 GiB"), 2):
            self.driver.execute_script("byId('capacity').value = arguments[0]; shell.wishSoon()", device)
            self.answered(count)
        self.assertEqual(self.ask("[...document.querySelectorAll('#tabs button')].filter((tab) => !tab.hidden).length"), 5)
        self.assertFalse(self.ask("byId('panel-picture').hidden"))

    def test_a_wish_is_for_the_file_that_it_was_typed_for(self):
        self.give(OOM)
        self.answered()
        self.driver.execute_script("byId('capacity').value = '9GiB'; shell.wishSoon(); shell.home()")
        self.driver.execute_script("return new Promise((done) => setTimeout(done, 1000))")
        self.assertTrue(self.ask("byId('answers').hidden && !shell.program.current"))

    def test_lint_takes_no_options(self):
        self.give(OOM)
        self.answered()
        for setting, said in (("--help", "no allocator option"), ("-o x", "no allocator option")):
            self.driver.execute_script("byId('setting').value = arguments[0]; shell.lint()", setting)
            self.wait(f"byId('lint').textContent.includes({said!r})")
            self.assertTrue(self.ask("byId('lint').classList.contains('failed')"))

    def test_a_message_is_pasted(self):
        self.element("paste").click()
        self.element("pasted").send_keys(MESSAGE)
        self.driver.find_element(By.CSS_SELECTOR, "#pasting button").click()
        self.answered()
        path = self.folder / "pasted.txt"
        path.write_text(MESSAGE)
        self.assertEqual(self.text("verdict"), self.said_first("explain", path))
        self.assertEqual(self.ask("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.id)"), ["tab-why"])

    def test_a_pickle_that_wants_to_run_code_is_refused(self):
        path = self.folder / "evil.pickle"
        path.write_bytes(pickle.dumps(Evil()))
        self.give(path)
        self.answered()
        said = by_command_line("explain", path).stderr.strip().replace("memreplay: ", "").replace(f"{self.folder}/", "")
        self.assertEqual(self.text("verdict"), said)
        self.assertTrue(self.ask("byId('verdict').classList.contains('failed')"))

    def test_what_if_is_answered_as_it_is_typed(self):
        self.give(OOM)
        self.answered()
        self.element("setting").send_keys("max_split_size_mb:12")
        self.wait("byId('lint').classList.contains('failed')")
        self.assertIn("expected 20", self.text("lint"))
        self.element("setting").clear()
        self.element("setting").send_keys("expandable_segments:True")
        self.wait("!byId('lint').classList.contains('failed') && byId('lint').textContent")
        self.answered(2)
        self.wait("document.querySelector('iframe').contentDocument.querySelectorAll('#strategy option').length === 2")
        self.element("capacity").send_keys("40441MiB")
        self.answered(3)
        self.assertEqual(self.text("verdict"), self.said_first("explain", OOM, "--capacity", "40441MiB", "--alloc-conf",
                                                               "expandable_segments:True"))
        for tab in ("fit", "compare"):
            self.element(f"tab-{tab}").click()
            self.wait(f"document.querySelector('#panel-{tab} table')")
            self.screenshot(tab)

    def test_work_is_stopped(self):
        path = self.folder / "long.csv"
        by_command_line("generate", "random", path, "--events", "400000", "--live", "4000")
        self.give(path)
        self.wait("byId('verdict').textContent !== '…' && !byId('working').hidden")
        self.element("stop").click()
        self.answered()
        self.assertTrue(self.ask("byId('working').hidden && byId('best').hidden"))
        self.assertFalse(self.ask("byId('panels').hidden"))
        self.assertEqual(self.text("panel-tune"), "Stopped.")
        self.give(OOM)
        self.answered(2)
        self.assertIn("expandable_segments", self.text("best"))

    def test_a_file_of_a_gigabyte_is_drawn(self):
        path = self.folder / "large.pickle"
        write_snapshot(path, 10**9)
        self.give(path)
        self.wait("document.body.dataset.drawn", 1200)
        self.wait("document.querySelector('iframe').contentDocument.body.dataset.ready === '0-0'")
        self.assertFalse(self.ask("byId('verdict').classList.contains('failed')"))
        self.assertGreater(self.ask("Number(document.querySelector('iframe').contentDocument.getElementById('event').max)"), 11_000_000)
        self.element("stop").click()
        self.answered()
        path.unlink()

    def test_a_state_without_a_history_is_drawn(self):
        snapshot = values_in(TRACES / "torch" / "layers_4.pickle")
        snapshot["device_traces"] = [[]]
        path = self.folder / "state.pickle"
        path.write_bytes(pickle.dumps(snapshot))
        self.give(path)
        self.answered()
        self.assertEqual(self.text("verdict"), self.said_first("explain", path))
        self.wait("document.querySelector('iframe').contentDocument.querySelectorAll('#flame button').length > 3")
        self.screenshot("state")

    def test_nothing_is_asked_of_a_network(self):
        self.driver.get_log("performance")
        self.driver.get(PAGE.as_uri())
        self.give(OOM)
        self.answered()
        events = [json.loads(line["message"])["message"] for line in self.driver.get_log("performance")]
        asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        self.assertEqual([url for url in asked if not url.startswith(("file:", "blob:", "data:", "about:"))], [])
        self.assertEqual(len([url for url in asked if url.startswith("file:")]), 1)
        for attempt in ("fetch('https://example.org/').then(() => 'sent', () => 'refused')",
                        "new Promise((done) => { const image = new Image(); image.onload = () => done('sent'); "
                        "image.onerror = () => done('refused'); image.src = 'https://example.org/a.png'; })"):
            self.assertEqual(self.ask(attempt), "refused")
        blocked = [line for line in self.driver.get_log("browser") if "Content Security Policy" in line["message"]]
        self.assertGreaterEqual(len(blocked), 2)
        self.driver.get_log("browser")

    def test_keys_and_names(self):
        self.give(OOM)
        self.answered()
        self.element("tab-picture").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.ask("document.activeElement.id"), "tab-why")
        self.assertEqual(self.ask("byId('tab-why').getAttribute('aria-selected')"), "true")
        tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = ("button", "textbox", "combobox", "tab", "tabpanel", "progressbar", "searchbox", "slider", "checkbox")
        nameless = [node for node in tree if not node.get("ignored") and node["role"]["value"] in roles
                    and not node.get("name", {}).get("value", "").strip()]
        self.assertEqual(nameless, [])

    def test_the_first_view(self):
        self.screenshot("welcome")
        self.element("theme").click()
        self.resize(420, 900)
        self.screenshot("welcome-narrow-dark")
        self.assertEqual(self.ask("document.documentElement.scrollWidth"), 420)


if __name__ == "__main__":
    if chromium is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: no chromium, chromedriver or selenium")
        sys.exit()
    PAGE, PROGRAM = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    SCREENSHOTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and not sys.argv[3].startswith("Page") else None
    unittest.main(argv=[sys.argv[0], *[word for word in sys.argv[3:] if word.startswith("Page")]])
