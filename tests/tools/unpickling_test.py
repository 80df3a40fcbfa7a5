"""A pickle can run code: whatever of ours reads one reads values alone."""
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from values import values_of  # noqa: E402

# Python and what holds some of it; not this file, which has to spell them out.
ENDINGS = {"", ".py", ".pyi", ".ipynb", ".cpp", ".hpp", ".in", ".sh", ".yml"}
# By way of a function, a module that stands on pickle, or a class that is no ValuesOnly.
RUNS_CODE = re.compile(
    r"\b_?[cC]?[pP]ickle\.loads?\b(?!\(pickle\.dumps\()|from _?[cC]?[pP]ickle import|\bimport _pickle|Unpickler\(\s*[^)\s]|"
    r"\b(?:marshal|dill|cloudpickle|joblib|jsonpickle)\.loads?\b|\bshelve\b|\bread_pickle\b|allow_pickle\s*=\s*True|"
    r"weights_only\s*=\s*False|torch\.load\((?!.*weights_only=True)|\.Unpickler\b(?!\):$)")


def ours():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0") if listed.returncode == 0 else [
        path.relative_to(ROOT).as_posix() for folder in ("apps", "lib", "tests", "tools") for path in (ROOT / folder).rglob("*")]
    for name in filter(None, names):
        path = ROOT / name
        if path.suffix in ENDINGS and path.is_file() and path != pathlib.Path(__file__).resolve():
            yield name, path


def found_in(text):
    return [line.strip() for line in text.splitlines() if RUNS_CODE.search(line)]


class Named:
    """Pickled as a name that is looked up, which is what runs code."""

    def __reduce__(self):
        return print, ("a pickle ran this",)


class Unpickling(unittest.TestCase):
    def test_nothing_of_ours_unpickles_more_than_values(self):
        files = list(ours())
        self.assertGreater(len(files), 500)
        found = {name: lines for name, path in files if (lines := found_in(path.read_text(encoding="utf-8", errors="replace")))}
        self.assertEqual(found, {})

    def test_what_is_looked_for_is_found(self):
        for line in ("snapshot = pickle.load(file)", "pickle.loads(path.read_bytes())", "from pickle import load",
                     "pickle.Unpickler(file).load()", "torch.load(path)", "torch.load(p, weights_only=False)", "shelve.open(p)",
                     "numpy.load(p, allow_pickle=True)", "pandas.read_pickle(p)", "marshal.load(file)"):
            self.assertTrue(found_in(line), line)
        for line in ("pickle.loads(pickle.dumps(answer))", "class ValuesOnly(pickle.Unpickler):", "return ValuesOnly(file).load()",
                     "pickle.dump(made, file)", "torch.load(path, weights_only=True)"):
            self.assertFalse(found_in(line), line)

    def test_values_are_read_and_names_are_refused(self):
        value = {"a": [1, 2.5, None, (True, "x")], "b": {"c": "é", "d": 1 << 80}}
        for protocol in range(6):
            self.assertEqual(values_of(pickle.dumps(value, protocol)), value)
            for named in (Named(), [Named()], print, Named):
                with self.assertRaisesRegex(pickle.UnpicklingError, "wants to run code"):
                    values_of(pickle.dumps(named, protocol))


if __name__ == "__main__":
    unittest.main()
