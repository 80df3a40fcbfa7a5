"""Originals that serve the same requests in their own process, and replays beside them.

Their benchmarks take `FILE REPETITIONS` and print a line with "reserved peak N MiB" and "ooms N" for each repetition,
and last "median N ops/s".
"""
import dataclasses
import os
import re

from cases import Case
from processes import done, rate, replayed

NEVER_FULL_MIB = 1_000_000  # the original places memory in 1 TiB of addresses


@dataclasses.dataclass(frozen=True)
class Outcome:
    reserved_mib: float
    ooms: int


def told(text):
    """Millions of events a second, and what it came to."""
    found = re.search(r"reserved peak ([\d.]+) MiB .*ooms (\d+)", text)
    return float(re.search(r"median ([\d.]+) ops/s", text)[1]) / 1e6, Outcome(float(found[1]), int(found[2]))


def original_torch(folder, load, strategy, capacity_mib=None):
    conf = strategy.partition(":")[2].replace("=", ":")
    environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": conf, "STUB_GPU_MIB": str(capacity_mib or NEVER_FULL_MIB)}
    return told(done([folder / "bench", load.plain, 3], env=environment).output)


def original_bfc(program, load):
    return told(done([program, load.plain, 3]).output)


def replay_case(bench, name, load, strategy, capacity_mib=None, original=None):
    """Replays of a strategy; `original()`, where there is one, is asked in turn with them and must come to the same."""
    outcomes = {}
    limit = ["--capacity", f"{capacity_mib}MiB"] if capacity_mib else []

    def ours(program):
        run = replayed(program, load.csv, strategy, *limit)
        outcomes[program.name] = Outcome(round(run["peak_reserved_bytes"] / 2**20, 1), run["ooms"])
        return rate(run)

    def theirs():
        millions, outcomes["original"] = original()
        return millions

    def note():
        return "" if len(set(outcomes.values())) < 2 else f"NOT THE SAME, the ratio means nothing: {outcomes}"

    sides = bench.each(ours) | ({"original": theirs} if original else {})
    return Case(name, "M events/s", sides, note=note)
