"""check_includes reports what it is for, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes"


def check(files):
    """The tool's exit status and lines over a tree of lib/ files."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, "lib", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines()


class CheckIncludes(unittest.TestCase):
    def test_an_allowed_tree_passes(self):
        status, _ = check({
            "core/units.hpp": "#include <cstdint>\n",
            "device/device_model.hpp": '#include "core/units.hpp"\n',
            "strategy/bump.cpp": '#include "core/units.hpp"\n#include "device/device_model.hpp"\n'
                                 'auto text = "printf(1); exit(1)";  // never calls getenv(\n'
                                 "auto s = fmt::format(\"{}\", 1'000);\nstd::snprintf(a, 1, b);\n"})
        self.assertEqual(status, 0)

    def test_a_folder_above_is_reported_with_its_line(self):
        status, lines = check({
            "trace/trace.hpp": "",
            "core/units.hpp": '#include <cstdint>\n#include "trace/trace.hpp"\n'})
        self.assertEqual((status, lines),
                         (1, ['lib/core/units.hpp:2: lib/core must not include "trace/trace.hpp"']))

    def test_what_an_older_system_lacks_is_reported(self):
        status, lines = check({"core/units.cpp": "int a;\nstd::random_device random;  // no std::random_device\n"})
        self.assertEqual((status, lines), (1, ["lib/core/units.cpp:2: random_device: the packages are for older systems"]))

    def test_two_types_of_one_name_are_reported(self):
        status, lines = check({
            "core/a.hpp": "namespace memreplay {\n\nstruct Call {\n};\n}  // namespace memreplay\n",
            "core/b.cpp": "namespace memreplay {\nnamespace {\nstruct Call {\n};\n}  // namespace\n"
                          "struct Other;\n}  // namespace memreplay\n",
            "core/c.hpp": "namespace memreplay::torch {\nstruct Call {\n};\n}  // namespace memreplay::torch\n",
            "core/d.cpp": "namespace memreplay {\nclass Call final : public Base {\n};\n}  // namespace memreplay\n"})
        self.assertEqual((status, lines),
                         (1, ["lib/core/d.cpp:2: memreplay::Call is another type in lib/core/a.hpp"]))

    def test_a_strategy_sees_of_the_device_the_model_alone(self):
        status, lines = check({
            "device/ledger.hpp": "",
            "strategy/bump.cpp": '#include "device/ledger.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("lib/strategy must not include", lines[0])

    def test_a_report_knows_no_question(self):
        status, lines = check({
            "questions/tune/answer.hpp": "",
            "report/tune.hpp": '#include "questions/tune/answer.hpp"\n'})
        self.assertEqual((status, lines),
                         (1, ['lib/report/tune.hpp:1: lib/report must not include "questions/tune/answer.hpp"']))

    def test_what_writes_an_answer_replays_nothing(self):
        status, lines = check({
            "replay/replay.hpp": "",
            "questions/tune/answer.hpp": "",
            "questions/tune/tune_text.cpp": '#include "questions/tune/answer.hpp"\n#include "replay/replay.hpp"\n'})
        self.assertEqual((status, lines), (
            1, ['lib/questions/tune/tune_text.cpp:2: what writes an answer must not include "replay/replay.hpp"']))

    def test_the_front_includes_no_extension(self):
        status, lines = check({
            "extensions/plan/plan.hpp": "",
            "questions/info/answer.cpp": '#include "extensions/plan/plan.hpp"\n'})
        self.assertEqual((status, lines), (
            1, ['lib/questions/info/answer.cpp:1: the front must not include the extension "extensions/plan/plan.hpp"']))

    def test_an_extension_says_which_others_it_needs(self):
        files = {"extensions/plan/plan.hpp": "", "extensions/page/page.cpp": '#include "extensions/plan/plan.hpp"\n'}
        rows = "memreplay_extension(plan)\nmemreplay_extension(page{})\n"
        status, lines = check({**files, "extensions/extensions.cmake": rows.format("")})
        self.assertEqual(status, 1)
        self.assertIn("does not say that it needs plan", lines[0])
        self.assertEqual(check({**files, "extensions/extensions.cmake": rows.format("\n  NEEDS plan")})[0], 0)

    def test_folders_in_a_ring_are_reported(self):
        status, lines = check({
            "replay/replay.hpp": '#include "replay/watch/watch.hpp"\n',
            "replay/watch/watch.hpp": '#include "replay/replay.hpp"\n'})
        self.assertEqual((status, lines), (1, ["in a ring: lib/replay, lib/replay/watch"]))

    def test_a_path_relative_to_the_file_is_reported(self):
        status, lines = check({"core/units.hpp": "", "core/text.cpp": '#include "units.hpp"\n'})
        self.assertEqual((status, lines), (1, ['lib/core/text.cpp:1: "units.hpp" is not a path from lib/']))

    def test_a_folder_that_the_table_does_not_know_is_reported(self):
        status, lines = check({"helpers/misc.hpp": ""})
        self.assertEqual(status, 1)
        self.assertIn("no row", lines[0])

    def test_printing_exiting_and_reading_the_environment_are_reported(self):
        for code in ("std::cout << 1;", "printf (\"x\");", "std::exit(1);", "std::getenv(\"HOME\");"):
            with self.subTest(code):
                status, lines = check({"core/text.cpp": "/* a\n comment */ " + code + "\n"})
                self.assertEqual(status, 1)
                self.assertTrue(lines[0].startswith("lib/core/text.cpp:2: "), lines)


if __name__ == "__main__":
    unittest.main()
