import os
import pathlib
import runpy

values_in = runpy.run_path(str(pathlib.Path(__file__).resolve().parents[5] / "tools/values.py"))["values_in"]
asked = []


def _record_memory_history(enabled="all", **keywords):
    asked.append((enabled, keywords))


def _snapshot():
    """A recording that exists, where the history was switched on."""
    assert asked, "no history"
    return values_in(os.environ["STAND_IN_SNAPSHOT"])
