"""`tune --runs 1000` of 10^6 random events, beside as many replays one after the other"""
from cases import Case
from processes import answer, done, replayed

RUNS = 1000


def cases(bench):
    load = bench.random(5_000, 9, 26)
    one = replayed(bench.program, load.csv, "torch")["timing"]["replay_seconds"]
    tuned = lambda program: done([program, "tune", load.csv, "--runs", RUNS, "--quiet"]).seconds

    def note():
        found = answer([bench.program, "tune", load.csv, "--runs", RUNS])
        return (f"{found['tried']:,} settings tried, {found['replays']:,} replayed, {found['abandoned']:,} of them not to "
                f"the end, {len(found['runs']):,} outcomes; as many replays in a row: {one * found['tried']:.1f} s")

    yield Case("sweep/random-5k", "s", bench.each(tuned), rounds=1, note=note)
