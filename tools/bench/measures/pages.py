"""reports, the advice of `explain`, and traces made small"""
import pathlib

from cases import Case
from processes import done, replayed

TRACES = pathlib.Path(__file__).resolve().parents[3] / "traces"
SMALL = TRACES / "torch" / "gpt_train_oom.pickle"
THREE = ["torch", "torch:expandable_segments=True", "bfc"]
MINIMISED = 100_000  # events
CAPACITY = "20GiB"


def report(bench, path):
    return lambda program: done([program, "report", path, "-o", bench.folder / "page.html", "--quiet"])


def cases(bench):
    long = bench.random(5_000, 9, 26).csv
    page = report(bench, long)
    replays = sum(replayed(bench.program, long, strategy)["timing"]["replay_seconds"] for strategy in THREE)
    yield Case("pages/report-of-3-strategies", "s", bench.each(lambda program: page(program).seconds), rounds=1,
               note=lambda: f"their replays alone {replays:.2f} s; a page of "
                            f"{(bench.folder / 'page.html').stat().st_size / 1e6:.1f} MB")
    yield Case("pages/report-of-3-strategies/memory", "MiB", bench.each(lambda program: page(program).peak_mib), rounds=1)
    small = report(bench, SMALL)
    yield Case("pages/report-of-a-snapshot", "ms", bench.each(lambda program: small(program).seconds * 1e3))
    explained = lambda program: done([program, "explain", long]).seconds
    yield Case("pages/explain", "s", bench.each(explained), rounds=1)
    full = bench.random(5_000, 9, 27, MINIMISED).csv
    for strategy in (*THREE, "buddy"):
        command = ["convert", full, bench.folder / "small.csv", "--minimise", "-s", strategy, "--capacity", CAPACITY]
        minimised = lambda program: done([program, *command]).seconds
        yield Case(f"pages/minimise/{strategy}", "s", bench.each(minimised), rounds=1)
