"""tools/mutate changes code, and only code."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from mutate_sites import mutations


def changed(text):
    """What each mutation makes of one line of code."""
    before = "void f() {\n"
    return [m.applied(before + text + "\n").splitlines()[1] for m in mutations("f.cpp", before + text + "\n")]


class Mutations(unittest.TestCase):
    def test_operators_and_numbers_change(self):
        self.assertIn("  if (a <= 10) return;", changed("  if (a < 10) return;"))
        self.assertIn("  if (a < 11) return;", changed("  if (a < 10) return;"))
        self.assertIn("  if (!(a < 10)) return;", changed("  if (a < 10) return;"))

    def test_a_statement_goes(self):
        self.assertEqual(changed("  blocks.clear();"), ["  ;"])

    def test_a_return_value_changes(self):
        self.assertEqual(changed("  return size;"), ["  return {};"])

    def test_the_brackets_of_templates_stay(self):
        self.assertEqual(changed("  const std::vector<Bytes> sizes;"), [])

    def test_comments_strings_includes_and_assertions_stay(self):
        for line in ("  // a < 1", "  /* true */", '#include "a/1.hpp"', "  assert(a < 1);", "  const auto text = f(\"1 < 2\");"):
            self.assertEqual(changed(line), [], line)

    def test_a_condition_keeps_its_strings(self):
        self.assertIn('  if (!(name == "a")) return;', changed('  if (name == "a") return;'))

    def test_a_mutation_says_where_it_is(self):
        mutation = mutations("lib/f.cpp", "bool f() {\n  return a && b;\n}\n")[0]
        self.assertEqual(str(mutation).split("   in")[0], "lib/f.cpp:2: a && b -> {}")


if __name__ == "__main__":
    unittest.main()
