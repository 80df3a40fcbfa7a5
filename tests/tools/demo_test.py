"""The README shows what tools/demo ends with."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Demo(unittest.TestCase):
    def test_its_command_is_the_first_of_the_readme(self):
        demo = (ROOT / "tools" / "demo").read_text(encoding="utf-8")
        command = " ".join(re.search(r"^command=\((.*?)\)", demo, re.MULTILINE | re.DOTALL).group(1).split())
        beginning = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20]
        self.assertIn(f"$ {command}", beginning)


if __name__ == "__main__":
    unittest.main()
