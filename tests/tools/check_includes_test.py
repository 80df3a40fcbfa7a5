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

    def test_a_report_reads_answers_alone(self):
        status, lines = check({
            "analysis/tune/answer.hpp": "",
            "analysis/tune/tune.hpp": "",
            "report/tune.hpp": '#include "analysis/tune/answer.hpp"\n#include "analysis/tune/tune.hpp"\n'})
        self.assertEqual((status, lines),
                         (1, ['lib/report/tune.hpp:2: lib/report must not include "analysis/tune/tune.hpp"']))

    def test_an_answer_brings_no_replay_with_it(self):
        status, lines = check({
            "core/units.hpp": "",
            "replay/replay.hpp": "",
            "verify/verdict.hpp": "",
            "analysis/run/answer.hpp": '#include "core/units.hpp"\n#include "verify/verdict.hpp"\n',
            "analysis/tune/answer.hpp": '#include "analysis/run/answer.hpp"\n#include "replay/replay.hpp"\n'})
        self.assertEqual((status, lines), (
            1, ['lib/analysis/tune/answer.hpp:2: an answer must not include "replay/replay.hpp"']))

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
