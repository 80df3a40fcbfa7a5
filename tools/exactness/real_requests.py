"""Requests of real recordings under settings that they were never made with."""
import collections
import csv
import dataclasses
import functools
import json
import operator
import os
import pathlib
import re
import sys
import tempfile

from program import asked, release_of, table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from values import values_in  # noqa: E402

MASK = 2**64 - 1
DEVICE_CODES = {"segment_alloc": 3, "segment_free": 4, "segment_map": 5, "segment_unmap": 6}


def fnv1a(numbers):
    """FNV-1a of 64 bits over the eight bytes of each number, lowest first."""
    state = 14695981039346656037
    for number in numbers:
        for byte in (number & MASK).to_bytes(8, "little"):
            state = (state ^ byte) * 1099511628211 & MASK
    return f"{state:016x}"


def requests_of(snapshot):
    """Allocations and completed frees of the longest history, as rows of a CSV trace."""
    history = max(values_in(snapshot)["device_traces"], key=len)
    live, ids = {}, 0
    for entry in history:
        address = entry.get("addr")
        if entry["action"] == "alloc" and entry["size"]:
            if address in live:
                yield "f", live.pop(address), "", ""
            yield "a", ids, entry["size"], entry["stream"]
            live[address] = ids
            ids += 1
        elif entry["action"] == "free_completed" and address in live:
            yield "f", live.pop(address), "", ""


@dataclasses.dataclass
class Experiment:
    folder: str  # for what the program writes
    trace: pathlib.Path
    release: str
    truth: dict


def columns(path, *names):
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        heading = next(rows)
        yield from map(operator.itemgetter(*map(heading.index, names)), rows)


def differences(program, experiment):
    """What is not as the original's: statistics, addresses, device events, final segments."""
    truth = experiment.truth
    placements, device_events, segments = (
        os.path.join(experiment.folder, f"{os.getpid()}.{name}.csv") for name in ("placements", "events", "segments"))
    answer, reason = asked(
        program, "replay", experiment.trace, "--alloc-conf", truth["alloc_conf"],
        "--torch-version", experiment.release, "--capacity", truth["capacity_bytes"],
        "--address-policy", truth["address_policy"], "--placements", placements,
        "--device-events", device_events, "--segments", segments)
    if answer is None:
        return [reason]
    counters = {"num_oom_rejections": 0, **answer["runs"][0]["counters"]}
    hashes = (
        ("addresses", truth["placements_hash"],
         (int(address or 0) for op, address in columns(placements, "op", "address") if op == "a")),
        ("device events", truth["device_events"]["hash"],
         (number for op, address, size in columns(device_events, "op", "address", "bytes")
          for number in (DEVICE_CODES[op], int(address), int(size)))),
        ("final segments", truth["final_segments_hash"],
         (int(number) for row in columns(segments, "address", "bytes") for number in row)))
    return ([key for key, value in truth["memory_stats"].items() if counters.get(key) != value] +
            [what for what, expected, numbers in hashes if fnv1a(numbers) != expected])


def experiments(corpus, folder):
    """Every run of the corpus; the requests of each recording are written once, into `folder`."""
    written = {}
    for sidecar in sorted((corpus / "whatif").glob("*.json")):
        truth = json.loads(sidecar.read_text())
        source = truth["file"]
        if source.endswith(".csv"):
            written[source] = sidecar.parent / pathlib.Path(source).name
        elif source not in written:
            written[source] = pathlib.Path(folder, f"{len(written)}.csv")
            with open(written[source], "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("op", "id", "size", "stream"), *requests_of(corpus / source)])
        for run in truth["runs"]:
            yield sidecar.stem, Experiment(folder, written[source], release_of(truth["allocator"]), run)


def section(program, corpus, pool):
    with tempfile.TemporaryDirectory() as folder:
        named = list(experiments(corpus, folder))
        results = list(pool.map(functools.partial(differences, program), [experiment for _, experiment in named],
                                chunksize=4))
    releases, unequal = collections.defaultdict(list), []
    for (name, experiment), different in zip(named, results):
        releases[experiment.release].append((name, different))
        if different:
            unequal.append(f"- `{name}`, `{experiment.truth['alloc_conf'] or 'default'}`, "
                           f"{experiment.truth['capacity_bytes']:,} bytes: {', '.join(different)}")
    newest_first = sorted(releases.items(), key=lambda item: [-int(part) for part in re.findall(r"\d+", item[0])])
    yield from table(("release", "recordings", "replays", "equal"),
                     [(release, len({name for name, _ in runs}), len(runs), sum(not d for _, d in runs))
                      for release, runs in newest_first])
    if unequal:
        yield from ("", "Not equal:", "", *unequal)
