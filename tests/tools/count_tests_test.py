"""The closing line of tools/test."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "count_tests"
PASSED = '<testcase name="a" status="run"/>'
FAILED = '<testcase name="b" status="fail"><failure message=""/></testcase>'
SKIPPED = '<testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
NOT_BUILT = '<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>'


def count(*cases):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        file.flush()
        run = subprocess.run([sys.executable, TOOL, file.name], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.strip()


class CountTests(unittest.TestCase):
    def test_skipped_tests_are_no_failure(self):
        self.assertEqual(count(PASSED, PASSED, SKIPPED), (0, "2 passed, 0 failed, 1 skipped"))

    def test_a_failure_is_one(self):
        self.assertEqual(count(PASSED, FAILED), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_program_that_is_missing_failed(self):
        self.assertEqual(count(PASSED, NOT_BUILT), (1, "1 passed, 1 failed, 0 skipped"))

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(count(), (1, "0 passed, 0 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
