"""the program's start, and small recordings"""
import sys

from cases import Case
from measures.pages import SMALL, TRACES
from processes import done

AT_ONCE = 20


def least(command):
    """Milliseconds of the fastest of some, as a start is mostly waiting for others."""
    return min(done(command).seconds for _ in range(AT_ONCE)) * 1e3


def cases(bench):
    asked = {
        "version": ["--version"],
        "tiny-replay": ["replay", TRACES / "fragmentation.csv", "-s", "torch"],
        "snapshot-info": ["info", SMALL],
        "snapshot-replay": ["replay", SMALL],
    }
    for name, arguments in asked.items():
        sides = bench.each(lambda program: least([program, *arguments]))
        if name == "version":
            sides["python"] = lambda: least([sys.executable, "-c", "pass"])
        yield Case(f"start/{name}", "ms", sides)
