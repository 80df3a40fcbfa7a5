#!/usr/bin/env python3
"""Opens pages of `memreplay report` in headless Chromium and uses them as a person would.

Usage: browser_test.py PROGRAM TRACES [SCREENSHOTS]; says "skipped: …" where there is no browser to drive.
"""
import contextlib
import csv
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
from values import values_in  # noqa: E402
try:
    import chromium
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    chromium = None

PROGRAM, TRACES, SCREENSHOTS = None, None, None
EXPANDABLE = "torch:expandable_segments=True"
WINDOWS = {"wide": (1400, 1800), "narrow": (480, 1800)}


def memreplay(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class Browser:
    def __init__(self):
        self.driver = chromium.started("--window-size=1400,1800", logs=["browser"])

    def open(self, path):
        self.driver.get(path.as_uri())
        self.wait("return document.body.dataset.ready === '0-0'")

    def wait(self, condition):
        WebDriverWait(self.driver, 30).until(lambda driver: driver.execute_script(condition))

    def ask(self, expression):
        return self.driver.execute_script(f"return {expression}")

    def element(self, identity):
        return self.driver.find_element(By.ID, identity)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def pixels(self, canvas):
        """How many colours a canvas shows."""
        return self.ask(f"new Set(new Uint32Array(byId('{canvas}').getContext('2d').getImageData(0, 0, byId('{canvas}').width, "
                        f"byId('{canvas}').height).data.buffer)).size")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.browser.driver.set_window_size(*WINDOWS["wide"])

    def tearDown(self):
        wrong = [line for line in self.browser.driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING") and line["source"] != "rendering"]
        self.assertEqual(wrong, [])

    def page_of(self, *arguments):
        path = self.folder / "page.html"
        memreplay("report", *arguments, "-o", path)
        self.browser.open(path)
        return path

    def rows(self, option, trace, strategy, *more):
        path = self.folder / "rows.csv"
        memreplay("replay", trace, "-s", strategy, *more, option, path, "--quiet")
        with open(path, encoding="ascii") as file:
            return list(csv.DictReader(file))

    def test_curves_are_those_of_the_replay_at_every_event(self):
        for name, strategy, *more in (("gpt_train_oom", "recorded", "--capacity", "5226MiB"), ("gpt_train_oom", EXPANDABLE), ("side_streams", "recorded"),
                                      ("warm_ring", "recorded"), ("warm_ring", "bfc"), ("graph_pool", "recorded"), ("seq_growth", "buddy")):
            trace = TRACES / "torch" / f"{name}.pickle"
            with self.subTest(trace=name, strategy=strategy):
                self.page_of(trace, "-s", strategy, *more)
                run = self.browser.ask("[...['requested', 'allocated', 'reserved'].map((n) => Array.from(page.run()[n]))]")
                rows = self.rows("--timeline", trace, strategy, *more)
                self.assertGreater(len(rows), 0)
                for row in rows:
                    event = int(row["event"])
                    here = [curve[event] for curve in run]
                    self.assertEqual(here, [int(row[key]) for key in ("requested", "allocated", "reserved")], f"event {event}")

    def test_the_reduced_curves_keep_the_peaks(self):
        trace = TRACES / "torch" / "seq_growth.pickle"
        self.page_of(trace, "-s", "recorded", "-s", "bfc", "--capacity", "4000MiB")
        runs = json.loads(memreplay("replay", trace, "-s", "recorded", "-s", "bfc", "--capacity", "4000MiB", "--json"))["runs"]
        for number, run in enumerate(runs):
            for name in ("requested", "allocated", "reserved"):
                self.assertEqual(self.browser.ask(f"Math.max(...page.curves()[{number}].{name}.values)"), run[f"peak_{name}_bytes"])

    def test_the_memory_at_the_end_is_that_of_the_replay(self):
        for name, strategy in (("expandable", "recorded"), ("warm_ring", "recorded"), ("side_streams", "bfc"), ("fragmentation", "buddy")):
            trace = TRACES / "torch" / f"{name}.pickle"
            with self.subTest(trace=name, strategy=strategy):
                self.page_of(trace, "-s", strategy)
                shown = self.browser.ask("page.run().regionsAt(page.events - 1).map((r) => [page.run().address(r.from), r.to - r.from])")
                rows = self.rows("--segments", trace, strategy)
                self.assertEqual([[int(address, 16), size] for address, size in shown], [[int(row["address"]), int(row["bytes"])] for row in rows])

    def test_blocks_lie_where_they_were_placed_and_never_over_one_another(self):
        trace = TRACES / "torch" / "side_streams.pickle"
        for strategy in ("recorded", "torch:max_split_size_mb=20"):
            self.page_of(trace, "-s", strategy)
            for row in self.rows("--placements", trace, strategy):
                if row["op"] == "a" and row["address"]:
                    block = f"page.run().trace.blockOf[{row['event']}]"
                    shown = self.browser.ask(f"[page.run().address(page.run().place[{block}]), page.run().charged[{block}]]")
                    self.assertEqual([int(shown[0], 16), shown[1]], [int(row["address"]), int(row["size"])])
            self.assertEqual(self.browser.ask(
                "[...Array(page.events).keys()].filter((event) => { const run = page.run(), blocks = run.blocksAt(event);"
                " return blocks.some((block, i) => i && run.place[blocks[i - 1]] + run.charged[blocks[i - 1]] > run.place[block]); })"), [])

    def test_texts_are_tables_and_lines_to_copy(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle")
        self.assertEqual(self.browser.ask("document.querySelectorAll('pre').length"), 0)
        rows = self.browser.ask("[...document.querySelectorAll('.answer tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertIn(["#", "setting", "peak reserved", "OOMs", "retries", "device calls"], rows)
        self.assertIn(["1", "expandable_segments:True (+8 alike)", "5184 MiB", "0", "0", "64"], rows)
        self.assertIn(["free", "690 MiB", "outside any segment"], rows)
        lines = self.browser.ask("[...document.querySelectorAll('.command code')].map((line) => line.textContent)")
        self.assertIn("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", lines)

    def test_the_memory_before_an_oom_is_what_explain_says(self):
        trace = TRACES / "torch" / "gpt_train_oom.pickle"
        self.page_of(trace, "-s", "recorded", "--capacity", "5226MiB")
        said = json.loads(memreplay("explain", trace, "--json"))
        memory = f"page.run().memoryAt({said['event']})"
        self.assertEqual(self.browser.ask(f"{memory}.regions.length"), said["segments"])
        self.assertEqual(self.browser.ask(f"{memory}.regions.reduce((sum, r) => sum + r.free, 0)"), said["free_inside_bytes"])
        self.assertEqual(self.browser.ask(f"Math.max(...{memory}.regions.map((r) => r.largestHole))"), said["largest_free_bytes"])
        self.assertIn("Fragmentation", self.browser.driver.find_element(By.CLASS_NAME, "headline").text)
        self.assertEqual(self.browser.ask("page.event"), said["event"])

    def test_zoom_by_keys_buttons_and_drag(self):
        self.page_of(TRACES / "torch" / "seq_growth.pickle", "-s", "recorded")
        browser, whole = self.browser, self.browser.ask("page.view")
        browser.press("+")
        self.assertLess(browser.ask("page.view[1] - page.view[0]"), whole[1] - whole[0])
        browser.press("0")
        self.assertEqual(browser.ask("page.view"), whole)
        browser.element("zoom-in").click()
        self.assertLess(browser.ask("page.view[1] - page.view[0]"), whole[1] - whole[0])
        browser.element("zoom-all").click()
        curves = browser.element("curves")
        browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", curves)
        ActionChains(browser.driver).move_to_element_with_offset(curves, -200, -60).click_and_hold().move_by_offset(200, 0).release().perform()
        browser.wait(f"return page.view[1] - page.view[0] < {whole[1] // 2}")

    def test_the_event_is_chosen_by_slider_number_and_keys(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded")
        browser = self.browser
        browser.press("r")
        peak = browser.ask("page.event")
        browser.press(Keys.ARROW_LEFT)
        self.assertEqual(browser.ask("page.event"), peak - 1)
        browser.element("event-slider").send_keys(Keys.HOME)
        self.assertEqual(browser.ask("page.event"), 0)
        number = browser.element("event")
        number.clear()
        number.send_keys("300", Keys.ENTER)
        self.assertEqual(browser.ask("page.event"), 300)
        self.assertIn("After event 300", browser.element("memory-facts").text)
        self.assertGreater(browser.pixels("memory"), 5)

    def test_strategies_and_devices_switch(self):
        self.page_of(TRACES / "torch" / "expandable.pickle", TRACES / "torch" / "side_streams.pickle", "-s", "recorded", "-s", "bfc")
        browser = self.browser
        Select(browser.element("strategy")).select_by_index(1)
        browser.wait("return document.body.dataset.ready === '0-1'")
        self.assertIn("bfc", browser.element("run-facts").text)
        self.assertGreater(browser.pixels("memory"), 5)
        Select(browser.element("device")).select_by_index(1)
        browser.wait("return document.body.dataset.ready === '1-0'")
        shown = [part.text for part in browser.driver.find_elements(By.CLASS_NAME, "quiet") if "side_streams" in part.text and part.is_displayed()]
        self.assertEqual(len(shown), 1)
        browser.driver.find_element(By.TAG_NAME, "h1").click()
        browser.press("2")
        browser.wait("return document.body.dataset.ready === '1-1'")

    def search_for(self, text):
        self.browser.press(Keys.ESCAPE, Keys.ESCAPE)
        self.browser.press("/")
        self.browser.press(text)
        self.browser.wait(f"return page.search === {json.dumps(text.strip())}")
        return self.browser.element("found-facts").text

    def test_search_finds_by_stack_and_by_address(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        browser = self.browser
        frame = browser.ask("page.run().trace.names.frames.find((f) => f.includes('.py'))")
        self.search_for(frame)
        self.assertFalse(browser.ask("byId('found').hidden"))
        self.assertGreater(browser.ask("page.matches.reduce((a, b) => a + b, 0)"), 0)
        browser.press(Keys.ESCAPE)
        self.assertTrue(browser.ask("byId('found').hidden"))
        self.search_for(browser.ask("page.run().address(page.run().place[5] + 1)"))
        self.assertTrue(browser.ask("page.matches[5] === 1"))

    def test_search_finds_recorded_addresses_in_both_notations_and_says_how_many(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        address = self.browser.ask("page.run().trace.address[5]")
        holders = f"page.run().trace.address.filter((a, b) => a <= {address} && {address} < a + page.run().charged[b]).length"
        count = self.browser.ask(holders)
        for text in (hex(int(address)), str(int(address))):
            said = self.search_for(text)
            self.assertRegex(said, rf"^{count} blocks? \(.*\) recorded at {hex(int(address))}; ")
            self.assertTrue(self.browser.ask("page.matches[5] === 1"), text)
        self.assertIn("; 0 blocks (0 B) with “" + str(int(address)), said)

    def test_search_wants_every_word(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        frames = self.browser.ask("(([a, b]) => [a, b])(page.run().trace.names.stacks.find((s) => s.length > 1)"
                                  ".map((f) => page.run().trace.names.frames[f].split(' ').pop()))")
        both = self.search_for(" ".join(frames))
        self.assertNotIn("recorded at", both)
        self.assertRegex(both, r"^[1-9][0-9,]* blocks? ")
        self.assertRegex(self.search_for(frames[0] + " wordthatnoframehas"), "^0 blocks ")

    def over(self, canvas, down):
        """Puts the pointer over a canvas, below its middle."""
        element = self.browser.element(canvas)
        self.browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        return ActionChains(self.browser.driver).move_to_element_with_offset(element, 0, down)

    def test_a_block_under_the_pointer_shows_its_stack(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        self.over("blocks", 90).perform()
        self.browser.wait("return document.querySelector('#block-facts .stack')")
        self.assertIn(".py", self.browser.element("block-facts").text)
        self.assertTrue(self.browser.ask("page.panel.pinned === null"))

    def test_a_click_pins_the_stack_until_it_is_unpinned(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        browser = self.browser
        self.over("blocks", 90).click().perform()
        pinned = browser.element("block-facts").text
        self.assertIn("pinned", browser.element("panel-title").text)
        self.assertIn(".py", pinned)
        self.over("memory-facts", 0).perform()
        browser.press(Keys.ARROW_RIGHT)
        self.assertEqual(browser.element("block-facts").text, pinned)
        browser.element("unpin").click()
        self.assertNotIn("pinned", browser.element("panel-title").text)
        self.assertTrue(browser.ask("page.pinnedBlock() === -1"))

    def test_frames_that_serve_any_program_are_folded_and_open(self):
        frame = {"filename": "/home/me/train.py", "line": 7, "name": "step"}
        noise = [{"filename": "/usr/lib/python3/dist-packages/torch/nn/module.py", "line": n, "name": "call"} for n in range(14)]
        entry = {"addr": 0x7f0000000000, "size": 4096, "stream": 0, "time_us": 1, "frames": [*noise, frame]}
        snapshot = {"segments": [], "device_traces": [[{**entry, "action": action} for action in ("segment_alloc", "alloc")]]}
        trace = self.folder / "folded.pickle"
        trace.write_bytes(pickle.dumps(snapshot))
        self.page_of(trace, "-s", "torch")
        browser = self.browser
        browser.driver.execute_script("page.pin({kind: 'block', block: 0, event: page.event})")
        stack = browser.driver.find_element(By.CSS_SELECTOR, "#block-facts .stack")
        self.assertEqual(stack.text.splitlines(), ["… 14 frames", "/home/me/train.py:7 step"])
        stack.find_element(By.TAG_NAME, "summary").click()
        self.assertIn("module.py:13 call", stack.text)

    def test_the_chosen_line_follows_keys_slider_buttons_and_clicks(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded")
        browser = self.browser
        said = lambda: browser.element("curve-facts").text

        def follows():
            self.assertTrue(said().startswith(f"chosen: event {browser.ask('page.event')} "), said())

        before = said()
        for use in (lambda: browser.press(Keys.ARROW_LEFT), lambda: browser.element("event-slider").send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT),
                    lambda: browser.element("to-peak").click(), lambda: browser.press(Keys.HOME), lambda: browser.element("to-explained").click(),
                    lambda: browser.press(Keys.HOME), lambda: self.over("blocks", 100).click().perform()):
            use()
            follows()
            self.assertNotEqual(said(), before)
            before = said()

    def chosen_row(self, event):
        row = f"#events tr[aria-current][data-event='{event}']"
        self.browser.wait(f"return document.querySelector(\"{row}\")")
        return self.browser.driver.find_element(By.CSS_SELECTOR, row).text

    def test_the_list_of_events_says_what_happened_and_chooses(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB")
        browser = self.browser
        browser.press("o")
        event = browser.ask("page.event")
        chosen = self.chosen_row(event)
        self.assertIn("oom", chosen)
        self.assertIn("759 MiB", chosen)
        browser.driver.find_element(By.CSS_SELECTOR, f"#events tr[data-event='{event - 1}'] button").click()
        self.assertEqual(browser.ask("page.event"), event - 1)
        said = self.chosen_row(event - 1)
        self.assertIn("segment_free (recorded)", said)
        self.assertIn("0x7a", said)

    def test_holes_segments_and_rounding_say_what_they_are(self):
        self.page_of(TRACES / "torch" / "fragmentation.pickle", "-s", "recorded")
        browser = self.browser

        def facts_of(kind):
            browser.driver.execute_script(f"page.point({{...page.segments.boxes.find((b) => b.subject.kind === '{kind}').subject, event: page.event}})")
            return browser.element("block-facts").text

        hole = facts_of("hole")
        for word in ("size", "block below", "block above", "returnable"):
            self.assertIn(word, hole)
        segment = facts_of("segment")
        for word in ("0x", "stream 0, default pool", "free", "largest hole"):
            self.assertIn(word, segment)
        browser.driver.execute_script("const r = page.run(); const b = [...r.charged.keys()].find((i) => r.charged[i] > r.trace.size[i]);"
                                      "page.point({kind: 'rounding', block: b, event: page.event})")
        for word in ("requested", "allocated", "lost to rounding"):
            self.assertIn(word, browser.element("block-facts").text)

    def test_the_legend_names_what_covers_most_each_in_a_colour_of_its_own(self):
        self.page_of(TRACES / "torch" / "seq_growth.pickle", "-s", "recorded")
        Select(self.browser.element("colour-by")).select_by_visible_text("stack")
        entries = self.browser.ask("page.colouring().legend().map(({colour, area}) => [String(colour), area])")
        colours = [colour for colour, _ in entries]
        self.assertEqual(len(set(colours)), len(colours))
        areas = [area for _, area in entries[:12]]
        self.assertEqual(areas, sorted(areas, reverse=True))
        everything = "page.colouring().order.reduce((sum, [, area]) => sum + area, 0)"
        self.assertEqual(sum(area for _, area in entries), self.browser.ask(everything))

    def test_lines_of_strategies_differ_in_colour_dash_and_number(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded", "-s", "bfc", "-s", "buddy", "-s", "torch")
        lines = self.browser.ask("[0, 1, 2, 3].map((i) => JSON.stringify(lineOf(i)))")
        for part in ("colour", "dash", "text"):
            self.assertEqual(len({str(json.loads(line)[part]) for line in lines}), 4, part)
        shown = lambda: self.browser.ask("[document.querySelectorAll('#other-legend li svg').length, page.curveChart.others.length]")
        self.assertEqual(shown(), [0, 0], "others only where somebody asks for them")
        self.browser.element("show-others").click()
        self.assertEqual(shown(), [3, 3])

    def test_ticks_of_sizes_are_whole_in_binary_units(self):
        self.page_of(TRACES / "torch" / "seq_growth.pickle", "-s", "recorded")
        labels = self.browser.ask("[...document.querySelectorAll('#curves .dygraph-axis-label-y')].map((l) => l.textContent)")
        self.assertGreater(len(labels), 3)
        for label in labels:
            self.assertRegex(label, r"^(0|[0-9,]+ [KMG]iB)$")

    def test_the_flame_graph_holds_what_is_live_and_zooms(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        browser = self.browser
        bars = lambda: browser.driver.find_elements(By.CSS_SELECTOR, "#flame button")
        browser.wait("return byId('flame').children.length > 1")
        live = browser.ask("humanSize(page.run().requested[page.event - page.run().trace.from])")
        self.assertIn(f"all live memory, {live}, 100.0 %", bars()[0].get_attribute("aria-label"))
        frame = next(bar.get_attribute("aria-label") for bar in bars() if ".py:" in bar.get_attribute("aria-label"))
        browser.driver.execute_script("byId('flame').querySelector('button').focus()")
        browser.press(Keys.ARROW_DOWN)
        self.assertEqual(browser.element("flame-bar").text, frame)
        browser.press(Keys.ENTER)
        self.assertEqual(len(browser.ask("page.flame.path")), 1)
        browser.press(Keys.BACKSPACE)
        self.assertEqual(browser.ask("page.flame.path"), [])

    def test_a_recording_without_stacks_says_so_in_place_of_a_flame_graph(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded")
        self.browser.wait("return byId('flame-facts').textContent.startsWith('The recording has no stacks')")

    def test_the_view_stands_in_the_address_and_back_goes_back(self):
        path = self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded", "-s", "bfc")
        browser = self.browser
        browser.press("2")
        browser.wait("return document.body.dataset.ready === '0-1'")
        browser.driver.execute_script("page.show(10, 90, 'jump'); page.choose(40, 'jump'); page.pin({kind: 'block', block: 3, event: 40})")
        self.search_for("py")
        browser.wait("return location.hash.includes('search=py')")
        browser.driver.execute_script("page.pin({kind: 'block', block: 3, event: 40})")
        state = "[page.runNumber, page.view, page.event, page.search, page.pinnedBlock()]"
        self.assertEqual(browser.ask(state), [1, [10, 90], 40, "py", 3])
        kept = browser.ask("location.href")
        browser.driver.get("about:blank")
        browser.driver.get(kept)
        browser.wait("return page.runNumber === 1 && page.pinnedBlock() === 3")
        self.assertEqual(browser.ask(state), [1, [10, 90], 40, "py", 3])
        self.assertIn("chosen: event 40", browser.element("curve-facts").text)
        browser.driver.execute_script("page.choose(50, 'jump')")
        browser.driver.back()
        browser.wait("return page.event === 40")
        browser.driver.forward()
        browser.wait("return page.event === 50")
        browser.open(path)

    @contextlib.contextmanager
    def wide(self, width, height):
        """The screen of a telephone; windows are never as narrow."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self.browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_the_panel_is_on_screen_where_it_is_narrow(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        with self.wide(420, 800):
            self.browser.driver.execute_script("page.drawAll(); page.pin({kind: 'block', block: 3, event: page.event}); scrollTo(0, 900)")
            top, bottom, left, right = self.browser.ask("(({top, bottom, left, right}) => [top, bottom, left, right])(byId('panel').getBoundingClientRect())")
            self.assertTrue(0 <= top < bottom <= 800 and 0 <= left < right <= 420, (top, bottom, left, right))
            self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), 420)

    def test_every_colouring_axis_theme_and_width_draws(self):
        path = self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded", "-s", EXPANDABLE)
        browser = self.browser
        for kind in ("stack", "category", "stream", "size"):
            Select(browser.element("colour-by")).select_by_visible_text(kind)
            self.assertGreater(browser.pixels("blocks"), 5, kind)
        browser.element("axis-time").click()
        for label in browser.ask("page.xTicks(...page.xView(), 900).map(({label}) => label)"):
            self.assertRegex(label, r"^(0|[0-9.]+ (s|ms|µs))$")
        self.assertGreater(browser.pixels("blocks"), 5)
        for width in WINDOWS:
            browser.driver.set_window_size(*WINDOWS[width])
            browser.open(path)
            for theme in ("light", "dark"):
                browser.driver.execute_script(f"setTheme({'true' if theme == 'dark' else 'false'}); page.drawAll()")
                self.assertLessEqual(browser.ask("document.documentElement.scrollWidth"), browser.ask("innerWidth"), f"{width} scrolls sideways")
                if SCREENSHOTS:
                    browser.driver.save_screenshot(str(SCREENSHOTS / f"{width}-{theme}.png"))

    def test_a_strategy_that_moves_blocks_says_what_is_missing(self):
        trace = TRACES / "torch" / "gpt_train_oom.pickle"
        self.page_of(trace, "-s", "offload(torch):host=64GiB", "--capacity", "4000MiB")
        self.assertIn("moves blocks out of the device", self.browser.element("memory-facts").text)

    def test_a_state_without_a_history_shows_all_that_it_has(self):
        snapshot = values_in(TRACES / "torch" / "layers_4.pickle")
        snapshot["device_traces"] = [[]]
        state = self.folder / "state.pickle"
        state.write_bytes(pickle.dumps(snapshot))
        self.page_of(state)
        browser = self.browser
        reserved = sum(segment["total_size"] for segment in snapshot["segments"])
        blocks = [block for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated"]
        self.assertRegex(browser.element("memory-facts").text,
                         rf"^{len(blocks)} live blocks .* {reserved >> 20} MiB reserved in {len(snapshot['segments'])} segments; ")
        self.assertGreater(browser.pixels("memory"), 5)
        browser.wait("return document.querySelectorAll('#flame button').length > 3")
        self.assertGreater(browser.ask("document.querySelectorAll('#live-places tr').length"), 3)
        shown = browser.ask("[...document.querySelectorAll('main h2')].filter((h) => h.offsetHeight).map((h) => h.parentElement)"
                            ".filter((part) => !part.querySelector('canvas, table, p, button')).map((part) => part.textContent)")
        self.assertEqual(shown, [])
        for gone in ("blocks", "curves", "marks", "events", "event-slider"):
            self.assertEqual(browser.ask(f"byId('{gone}').offsetHeight"), 0, gone)

    def test_charts_lie_below_one_another_and_marks_beside(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB")
        browser = self.browser
        edges = browser.ask("(() => { const at = (id) => byId(id).getBoundingClientRect().left; const chart = page.curveChart.chart.getArea();"
                            " return [[at('blocks') + page.timeline.left, page.timeline.width], [at('curves') + chart.x, chart.w],"
                            " [at('memory') + page.segments.left, chart.w]]; })()")
        self.assertEqual(edges[0], edges[1])
        self.assertEqual(edges[1], edges[2])
        ticks = browser.ask("[...document.querySelectorAll('#curves .dygraph-axis-label-x')].map((l) => l.textContent)")
        self.assertEqual(ticks, browser.ask("page.xTicks(...page.xView(), page.timeline.width).map(({label}) => label)"))
        self.assertIn("OOM: 1, retry: 1, explained: 1", browser.element("marks").get_attribute("aria-label"))
        self.assertEqual(browser.ask("byId('marks').offsetHeight"), 3 * 15 + 2)
        self.assertIn("fragmentation at the OOM\n14 %", browser.element("figures").text)

    def test_on_paper_all_fits_and_nothing_waits_for_a_click(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB")
        browser = self.browser
        drawn = ("[...document.querySelectorAll('#curves canvas')].map((canvas) => canvas.getContext('2d')"
                 ".getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte))[0]")
        clicked = "[...document.querySelectorAll('button, select, input')].filter((one) => one.offsetHeight && !one.closest('#flame')).length"
        before = browser.ask(clicked)
        browser.ask("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(browser.ask(clicked), 0)
        self.assertTrue(browser.ask(drawn))
        self.assertLess(browser.ask("document.body.scrollWidth"), 700)
        wide = "[...document.querySelectorAll('main table')].filter((table) => table.offsetWidth > document.body.clientWidth).length"
        self.assertEqual(browser.ask(wide), 0)
        browser.ask("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(browser.ask(clicked), before)
        self.assertTrue(browser.ask(drawn))

    def test_the_timeline_of_segments_is_what_is_reserved(self):
        for name in ("expandable", "side_streams", "warm_ring"):
            with self.subTest(trace=name):
                self.page_of(TRACES / "torch" / f"{name}.pickle", "-s", "recorded")
                browser = self.browser
                Select(browser.element("areas")).select_by_value("segments")
                self.assertIn("by segment", browser.element("blocks-title").text)
                sums = browser.ask("(() => { const areas = new SegmentAreas(page, page.run()); return [...page.run().reserved].map((held, event) => {"
                                   " areas.goTo(event); let bytes = 0; areas.each((_, size) => { bytes += size; }); return [held, bytes]; }); })()")
                self.assertEqual([held for held, _ in sums], [bytes for _, bytes in sums])
                self.assertGreater(browser.pixels("blocks"), 2)

    def test_rows_of_segments_are_full_and_what_was_refused_stands_beside(self):
        for arguments in ((TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB"), (TRACES / "torch" / "phases.pickle",)):
            self.page_of(*arguments)
            browser = self.browser
            rows = browser.ask("page.segments.rows.map((row) => row.map(({region, from, to, at}) => [region.alone || '', at, to - from]))")
            length = browser.ask("page.segments.perRow")
            drawn = browser.ask("[page.segments.scale * page.segments.perRow, page.area.width]")
            self.assertAlmostEqual(*drawn, delta=3)
            for kind in {parts[0][0] for parts in rows}:
                of_kind = [parts for parts in rows if parts[0][0] == kind]
                for parts in of_kind:
                    self.assertEqual([at for _, at, _ in parts], [sum(size for _, _, size in parts[:i]) for i in range(len(parts))])
                self.assertTrue(all(sum(size for _, _, size in parts) == length for parts in of_kind[:-1]), kind)
            bytes_of = lambda kind: sum(size for row in rows for shown, _, size in row if shown == kind)
            self.assertEqual(bytes_of(""), browser.ask("page.run().memoryAt(page.event).regions.reduce((sum, {from, to}) => sum + to - from, 0)"))
            said = json.loads(memreplay("explain", arguments[0], "--json"))
            self.assertEqual(bytes_of("request"), said["requested_bytes"] if said["at_oom"] else 0)
            self.assertEqual(bytes_of("outside"), said["device_free_bytes"] if said["at_oom"] else 0)
            browser.driver.execute_script("page.choose(5, 'jump')")
            self.assertEqual(browser.ask("page.segments.rows.flat().filter(({region}) => region.alone).length"), 0)

    def test_boxes_of_segments_are_apart(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB")
        boxes = self.browser.ask("page.segments.boxes.filter(({subject}) => subject.kind === 'segment').map(({left, right, top}) => [top, left, right])")
        for (top, _, right), (next_top, left, _) in zip(sorted(boxes), sorted(boxes)[1:]):
            self.assertTrue(top != next_top or right < left, (right, left))

    def test_segments_come_first_where_they_are_the_reason(self):
        first = "document.querySelector('.workbench section').id"
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "--capacity", "5226MiB")
        self.assertEqual(self.browser.ask(first), "memory-part")
        self.page_of(TRACES / "leak.csv", "--capacity", "850MiB")
        self.assertEqual(self.browser.ask(first), "memory-part" if self.browser.ask("page.device.fragmented") else "blocks-part")
        self.page_of(TRACES / "torch" / "phases.pickle")
        self.assertEqual(self.browser.ask(first), "blocks-part")

    def test_pictures_are_as_wide_as_the_page_and_the_panel_lies_over_them(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        browser = self.browser
        right = browser.ask("document.querySelector('main').getBoundingClientRect().right")
        for picture in ("blocks", "curves", "memory-rows", "flame"):
            self.assertAlmostEqual(browser.ask(f"byId('{picture}').getBoundingClientRect().right"), right, delta=1)
        self.assertFalse(browser.element("panel").is_displayed())
        for share, side in ((-0.35, "right"), (0.35, "left")):
            blocks = browser.element("blocks")
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", blocks)
            ActionChains(browser.driver).move_to_element_with_offset(blocks, round(share * blocks.size["width"]), 110).perform()
            browser.wait("return byId('panel').offsetHeight > 0")
            middle = browser.ask("(({left, right}) => (left + right) / 2)(byId('panel').getBoundingClientRect())")
            self.assertEqual(middle > browser.ask("innerWidth") / 2, side == "right")

    def test_the_first_screen_says_what_failed_what_holds_the_memory_and_what_to_do(self):
        self.page_of(TRACES / "torch" / "gpt_train_oom.pickle", "--capacity", "5226MiB")
        browser = self.browser
        browser.driver.set_window_size(1400, 1000)
        shown = [part.text for part in browser.driver.find_elements(By.CSS_SELECTOR, ".brief section")]
        self.assertEqual([text.splitlines()[0] for text in shown], ["What failed", "What holds the memory", "What to do"])
        self.assertRegex(shown[0], r"request\s+759 MiB")
        self.assertRegex(shown[1], r"\(no stack recorded\) 4419 MiB 116 MiB")
        self.assertIn("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", shown[2])
        self.assertLess(browser.ask("document.querySelector('.brief').getBoundingClientRect().bottom"), 600)
        self.assertLess(browser.ask("byId('memory').getBoundingClientRect().top"), 900)
        said = json.loads(memreplay("explain", TRACES / "torch" / "gpt_train_oom.pickle", "--json"))
        shares = browser.ask("[...document.querySelectorAll('.memory-bar i')].map((part) => [part.className, parseFloat(part.style.width)])")
        room = sum(share for name, share in shares if "request" not in name)
        for name, key in (("live", "live_requested_bytes"), ("request", "requested_bytes"), ("outside", "device_free_bytes")):
            share = next(share for part, share in shares if name in part)
            self.assertAlmostEqual(share / room, said[key] / said["usable_bytes"], delta=0.01, msg=name)

    def test_of_several_ranks_one_verdict_is_said_once(self):
        self.page_of(*(TRACES / "torch" / name for name in ("gpt_train_oom.pickle", "phases.pickle")))
        browser = self.browser
        header = browser.driver.find_element(By.TAG_NAME, "header").text
        bold = [part.text for part in browser.driver.find_elements(By.CSS_SELECTOR, "header .headline") if part.is_displayed()]
        self.assertEqual(len(bold), 1)
        self.assertEqual(header.count("Fragmentation: "), 1)
        self.assertEqual(len([text for text in header.splitlines() if text == bold[0]]), 1)

    def test_names_of_phases_are_whole_or_their_ends_and_a_legend_has_all(self):
        names = ["DistributedDataParallel.forward", "Optimizer.step#AdamW.step", "load"]
        lines = [f"a,{i},1000000" if i < 40 else f"f,{i - 40}," for i in range(80)]
        trace = self.folder / "phased.csv"
        trace.write_text("op,id,size\n" + "\n".join(lines) + "\n", encoding="ascii")
        self.page_of(trace, "-s", "torch")
        browser = self.browser
        spans = ((0, 30), (30, 34), (36, 80))
        browser.driver.execute_script("page.device.phases = arguments[0]", [[name, *span, 0] for name, span in zip(names, spans)])
        for width in (1400, 480):
            browser.driver.set_window_size(width, 1200)
            texts = browser.driver.execute_script("const texts = [], write = CanvasRenderingContext2D.prototype.fillText;"
                                                  "CanvasRenderingContext2D.prototype.fillText = function(text, ...rest) {"
                                                  " if (this.canvas.id === 'marks') texts.push(text); write.call(this, text, ...rest); };"
                                                  "page.drawAll(); CanvasRenderingContext2D.prototype.fillText = write; return texts;")
            ends = {name: browser.ask(f"endsOf({json.dumps(name)})") for name in names}
            for name, text in zip(names, texts):
                self.assertIn(text, ends[name] + [""])
            self.assertEqual(browser.ask("[...document.querySelectorAll('#phase-legend li')].map((entry) => entry.textContent)"), names)
        self.assertEqual(ends["Optimizer.step#AdamW.step"], ["Optimizer.step#AdamW.step", "step#AdamW.step", "AdamW.step", "step"])

    def test_a_size_that_was_not_broken_begins_no_paragraph(self):
        self.page_of(TRACES / "fragmentation.csv", "--capacity", "450MiB")
        lines = ["Throughout, expandable_segments:True reserves 532 MiB less than recorded: 2934 MiB instead of", "3466 MiB.", "A sentence."]
        self.assertEqual(self.browser.ask(f"paragraphsOf({json.dumps(lines)})"), [" ".join(lines[:2]), lines[2]])

    def test_the_limit_is_drawn_where_it_is_near(self):
        top = "page.curveChart.chart.yAxisRange()[1]"
        self.page_of(TRACES / "fragmentation.csv", "--capacity", "450MiB")
        self.assertEqual(self.browser.ask("page.curveChart.limit"), 450 << 20)
        self.assertGreater(self.browser.ask(top), 450 << 20)
        self.page_of(TRACES / "fragmentation.csv", "--capacity", "24GiB")
        self.assertEqual(self.browser.ask("page.curveChart.limit"), 0)
        self.assertLess(self.browser.ask(top), 1 << 30)

    def test_words_in_tables_stay_whole_on_a_telephone(self):
        broken = ("[...document.querySelectorAll('td, th, .command span')].filter((cell) => cell.offsetHeight).flatMap((cell) => {"
                  " const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), words = [];"
                  " for (let text = walk.nextNode(); text; text = walk.nextNode()) for (const {0: word, index} of text.data.matchAll(/\\S+/g)) {"
                  "  const range = document.createRange(); range.setStart(text, index); range.setEnd(text, index + word.length);"
                  "  const tops = new Set([...range.getClientRects()].map(({top}) => Math.round(top)));"
                  "  if (tops.size > 1 && word.length < 24) words.push(word); } return words; })")
        for arguments in ((TRACES / "torch" / "layers_4.pickle",), (TRACES / "torch" / "gpt_train_oom.pickle", "-s", "recorded", "-s", EXPANDABLE, "-s", "bfc"),
                          (TRACES / "torch" / "gpt_train_oom.pickle", TRACES / "torch" / "phases.pickle")):
            self.page_of(*arguments)
            with self.wide(420, 850):
                self.browser.driver.execute_script("page.drawAll()")
                self.assertEqual(self.browser.ask(broken), [])
                self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), 420)

    def test_blocks_segments_and_flame_graph_have_one_set_of_colours(self):
        self.page_of(TRACES / "torch" / "layers_4.pickle", "-s", "recorded")
        browser = self.browser
        browser.wait("return byId('flame').children.length > 1")
        leaves = browser.ask("page.flame.bars.filter(({node}) => !node.children.size && node.key !== kManyColours)"
                             ".map(({node, button}) => [getComputedStyle(button).backgroundColor, cssColour(page.colouring().colourOfKey(node.key))])")
        self.assertGreater(len(leaves), 2)
        for shown, expected in leaves:
            self.assertEqual(shown.replace(" ", ""), expected)

    def test_nothing_is_fetched_and_texts_of_the_recording_stay_texts(self):
        evil = "</script><img src=x onerror=alert(1)>"
        trace = self.folder / "evil.csv"
        trace.write_text(f'op,id,size,tag\na,1,1000000,"{evil}"\na,2,3000000,\nf,1,,\nf,2,,\n', encoding="ascii")
        path = self.page_of(trace, "-s", "torch")
        self.assertEqual(self.browser.ask("[...document.images].filter((image) => !image.src.startsWith('data:')).length"), 0)
        self.assertEqual(self.browser.ask("page.run().trace.names.texts[1]"), evil)
        self.assertEqual(self.browser.ask("performance.getEntriesByType('resource').filter((r) => !r.name.startsWith('data:')).length"), 0)
        text = path.read_text(encoding="utf-8")
        self.assertNotIn(evil, text)
        self.assertNotIn("<img", text)
        self.assertIn("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;", text, "the tag is a place of explain's tables")


if __name__ == "__main__":
    PROGRAM, TRACES = sys.argv[1], pathlib.Path(sys.argv[2])
    SCREENSHOTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)] + ([] if chromium else ["python3-selenium"])
    if missing:
        print(f"skipped: no browser to drive: {', '.join(missing)} not found")
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
