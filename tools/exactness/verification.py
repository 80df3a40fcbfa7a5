"""Does the model give every recorded address and segment?"""
import functools
import json

from program import asked, table

FOLDERS = ("torch", "warm", "real")


def verified(program, path):
    """The runs of `verify`, one for each device; for a recording that is refused one with the reason."""
    answer, reason = asked(program, "verify", path)
    if answer is None:
        return [{"verdict": "unreadable", "reason": reason, "allocs": 0, "allocs_matched": 0,
                 "segment_events": 0, "segment_events_matched": 0}]
    return answer["runs"]


def recorded_allocations(path):
    """How many there are in the trace, where whoever recorded it wrote that down."""
    sidecar = path.with_suffix(".json")
    if not sidecar.exists():
        return None
    truth = json.loads(sidecar.read_text())
    return truth["trace_actions"]["alloc"] if "trace_actions" in truth else truth["window_allocations"]


def section(program, corpus, pool):
    rows, others = [], []
    for folder in FOLDERS:
        paths = sorted((corpus / folder).rglob("*.pickle"))
        recordings = list(pool.map(functools.partial(verified, program), paths))
        devices = [run for runs in recordings for run in runs]
        allocations = sum(recorded_allocations(path) or sum(run["allocs"] for run in runs)
                          for path, runs in zip(paths, recordings))
        matched, events, events_matched = (
            sum(run[key] for run in devices) for key in ("allocs_matched", "segment_events", "segment_events_matched"))
        rows.append((f"`{folder}`", len(paths), len(devices), sum(run["verdict"] == "exact" for run in devices),
                     f"{matched:,} of {allocations:,}", f"{events_matched:,} of {events:,}"))
        others += [f"- `{path.relative_to(corpus)}`, {run['verdict']}: {run['reason']}"
                   for path, runs in zip(paths, recordings) for run in runs if run["verdict"] != "exact"]
    yield from table(("folder", "recordings", "devices", "exact", "placements reproduced", "segment events"), rows)
    if others:
        yield from ("", "Not exact, with the program's reason:", "", *dict.fromkeys(others))
