"""Recorded under A, replayed under B, against the original's own run under B."""
import collections
import dataclasses
import functools
import json
import pathlib

from program import replayed, table

# Calls of empty_cache and rejected requests count here even where they leave no entry in a recording.
UNRECORDED = ("num_sync_all_streams", "num_oom_rejections")


@dataclasses.dataclass
class Run:
    """A genuine run: what it was, how it ended, and the snapshot if one was taken."""
    name: str
    snapshot: pathlib.Path
    truth: dict

    def program(self):
        return tuple(self.truth.get(key) for key in ("workload", "seed", "event_delay", "request_hash"))


@dataclasses.dataclass
class Comparison:
    counters: dict  # of the replay
    because: str    # why the program calls it an estimate, or gave none; empty: exact
    different: list
    unrecorded_equal: bool


def why_left_out(run):
    history = run.truth["history"]
    if not run.snapshot.exists():
        return "without a snapshot"
    if run.truth["devices"] > 1:
        return "of several devices"
    if history["started_after_steps"] or run.truth["trace_entries"] >= history["max_entries"]:
        return "that begin in the middle of the program"
    if history.get("skip_actions"):
        return "that leave out a kind of entry"
    return ""


def compared(program, pair):
    recorded, asked_for = pair
    run, reason = replayed(program, recorded.snapshot, asked_for.truth, asked_for.truth["torch_version"])
    if run is None:
        return Comparison({}, reason, ["everything"], False)
    stats = asked_for.truth["memory_stats"]
    different = [key for key, value in stats.items() if run["counters"].get(key) != value]
    return Comparison(run["counters"], run["inexact_because"] or "",
                      [key for key in different if key not in UNRECORDED],
                      not any(key in UNRECORDED for key in different))


def causes(truth, own, comparison):
    """What a recording lacks: what the original counted while it was made, less its replay under its own settings."""
    def missing(key):
        return truth["memory_stats"].get(key, 0) - own.counters.get(key, 0)

    if own.different:
        return
    if missing("num_sync_all_streams") > 0:
        yield (f"an `empty_cache` that released nothing left no entry (the original synchronised "
               f"{truth['memory_stats']['num_sync_all_streams']} times, its recording shows "
               f"{own.counters['num_sync_all_streams']})")
    if missing("num_oom_rejections") > 0:
        yield f"requests that were rejected left no entry ({missing('num_oom_rejections')})"
    if "synchronisation" in comparison.because:
        yield comparison.because


def all_runs(folder):
    for sidecar in sorted(folder.glob("*.json")):
        yield Run(sidecar.stem, sidecar.with_suffix(".pickle"), json.loads(sidecar.read_text()))


def summary(what, results):
    equal = [result for result in results if not result.different]
    exact = [result for result in results if not result.because]
    return (what, len(results), len(equal), sum(result.unrecorded_equal for result in equal), len(exact),
            sum(not result.different for result in exact))


def section(program, corpus, pool):
    left_out, programs = collections.Counter(), collections.defaultdict(list)
    for run in all_runs(corpus / "torch"):
        if reason := why_left_out(run):
            left_out[reason] += 1
        else:
            programs[run.program()].append(run)
    pairs = [(a, b) for runs in programs.values() for a in runs for b in runs]
    results = list(zip(pairs, pool.map(functools.partial(compared, program), pairs, chunksize=16)))
    own = {a.name: result for (a, b), result in results if a is b}
    yield from table(("replayed under", "replays", "equal", "in the two as well", "called exact", "of these equal"),
                     [summary("its own settings", own.values()),
                      summary("another run's settings", [result for (a, b), result in results if a is not b])])
    yield ""
    yield "Left out: recordings " + ", ".join(f"{reason} ({count})" for reason, count in left_out.items()) + "."
    unequal = collections.defaultdict(list)
    for (a, b), result in results:
        if result.different:
            why = "; ".join(causes(a.truth, own[a.name], result)) or f"UNEXPLAINED {result.because}".rstrip()
            unequal[a.name, why].append(f"`{b.name}` ({len(result.different)})")
    if unequal:
        yield from ("", "Not equal, with the number of statistics that differ, and what the recording lacks:", "")
        yield from table(("recorded", "replayed under the settings of", "cause"),
                         [(f"`{name}`", ", ".join(under), why) for (name, why), under in unequal.items()])
