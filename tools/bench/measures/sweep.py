"""`tune --runs 1000` of 10^6 random events, beside as many replays one after the other"""
import json

from cases import Case
from processes import done, replayed

RUNS = 1000


def cases(bench):
    load = bench.random(5_000, 9, 26)
    one = replayed(bench.program, load.csv, "torch")["timing"]["replay_seconds"]
    found = {}

    def tuned(program):
        ran = done([program, "tune", load.csv, "--runs", RUNS, "--json", "--quiet"])
        if program == bench.program:
            found.update(json.loads(ran.output))
        return ran.seconds

    def note():
        return (f"{found['tried']:,} settings tried, {found['replays']:,} replayed, {found['abandoned']:,} of them not to "
                f"the end, {len(found['runs']):,} outcomes; as many replays in a row: {one * found['tried']:.1f} s")

    yield Case("sweep/random-5k", "s", bench.each(tuned), rounds=1, note=note)
